// The list of all hits: what is asked of the service, what comes back, and the files and citations made of it.
import { fileNameOf } from './files';
import { errorOf } from './api';
import { CodePointText } from './codepoints';
import type { RecordOut, SearchReportOut, SpanOut } from './events';
import type { SearchFilter } from './filters';

export const pageSize = 20;

export type Sort = 'relevance' | 'date' | 'journal';
export type OrderName = 'relevance' | 'newest' | 'oldest' | 'journal' | 'journal-down';

/** The orders a list can have, by the name that stands in the address. */
export const orders: Readonly<Record<OrderName, { label: string; sort: Sort; descending: boolean }>> = {
	relevance: { label: 'Relevance', sort: 'relevance', descending: true },
	newest: { label: 'Date, newest first', sort: 'date', descending: true },
	oldest: { label: 'Date, oldest first', sort: 'date', descending: false },
	journal: { label: 'Journal, A to Z', sort: 'journal', descending: false },
	'journal-down': { label: 'Journal, Z to A', sort: 'journal', descending: true },
};

/** What the reader asked for, without the filter, which has its own place in the address. */
export interface ListRequest {
	readonly query: string;
	readonly order: OrderName;
	/** From 1. */
	readonly page: number;
}

/** The order a list comes in: without words to look for nothing is more relevant than anything else. */
export function orderOf({ query, order }: ListRequest): OrderName {
	return query || order !== 'relevance' ? order : 'newest';
}

/** The request that an address names; what it does not name, or wrongly, is as on a fresh page. */
export function requestIn(search: string): ListRequest {
	const parameters = new URLSearchParams(search);
	const order = parameters.get('sort') ?? '';
	const page = parameters.get('page') ?? '';
	return {
		query: parameters.get('q')?.trim() ?? '',
		order: Object.hasOwn(orders, order) ? (order as OrderName) : 'relevance',
		page: /^[1-9]\d{0,6}$/.test(page) ? Number(page) : 1,
	};
}

/** A request's parameters in the address; what is as on a fresh page is left out. */
export function parametersOf({ query, order, page }: ListRequest): Record<'q' | 'sort' | 'page', string | null> {
	return { q: query || null, sort: order === 'relevance' ? null : order, page: page > 1 ? String(page) : null };
}

/** A record of the list, with the words that were searched for as spans of its text. */
export interface Hit {
	record: RecordOut;
	matches: SpanOut[];
	snippet: SpanOut | null;
}

export interface ResultPage {
	total: number;
	records: Hit[];
	search: SearchReportOut;
}

/** One page of all records that match. */
export async function fetchResults(
	request: ListRequest,
	filters: SearchFilter,
	signal?: AbortSignal,
	mode: SearchReportOut['mode'] | null = null,
): Promise<ResultPage> {
	const { sort, descending } = orders[orderOf(request)];
	const offset = (request.page - 1) * pageSize;
	const body = { query: request.query, filters, sort, descending, offset, limit: pageSize, ...(mode && { mode }) };
	return (await (await post('/api/results', body, signal)).json()) as ResultPage;
}

export function pageCount(total: number): number {
	return Math.max(1, Math.ceil(total / pageSize));
}

/** The page numbers to offer: the ends, the neighbours of the present one, and null where some are left out. */
export function pagesOffered(page: number, pages: number): (number | null)[] {
	const near = [1, page - 1, page, page + 1, pages].filter((n) => n >= 1 && n <= pages);
	const offered: (number | null)[] = [];
	for (const n of [...new Set(near)].sort((a, b) => a - b)) {
		const last = offered.at(-1);
		// A gap of one page is as wide as its number.
		if (last && n - last === 2) offered.push(n - 1);
		else if (last && n - last > 2) offered.push(null);
		offered.push(n);
	}
	return offered;
}

export interface Piece {
	text: string;
	isMatch: boolean;
}

/** The words of a span, parted where matches begin and end. Joined, the pieces are the span's words. */
export function piecesOf(points: CodePointText, span: SpanOut, matches: readonly SpanOut[]): Piece[] {
	const pieces: Piece[] = [];
	let done = span.start;
	const add = (end: number, isMatch: boolean) => {
		if (end > done) pieces.push({ text: points.slice({ start: done, end }), isMatch });
		done = Math.max(done, end);
	};
	for (const match of [...matches].sort((a, b) => a.start - b.start)) {
		if (match.end <= done || match.start >= span.end) continue;
		add(match.start, false);
		add(Math.min(match.end, span.end), true);
	}
	add(span.end, false);
	return pieces;
}

export interface HitWords {
	title: Piece[];
	/** Empty when the best words stand in the title, which is shown anyway. */
	snippet: Piece[];
	/** Whether the section goes on before and after the snippet. */
	isCutBefore: boolean;
	isCutAfter: boolean;
}

/** A hit's title and snippet, with the matching words marked. */
export function wordsOf({ record, matches, snippet }: Hit): HitWords {
	const points = new CodePointText(record.text);
	const title = record.sections.find((section) => section.kind === 'title');
	const words: HitWords = {
		title: title ? piecesOf(points, title.span, matches) : [{ text: record.title, isMatch: false }],
		snippet: [],
		isCutBefore: false,
		isCutAfter: false,
	};
	if (!snippet || snippet.end <= snippet.start || (title && snippet.end <= title.span.end)) return words;
	const section = record.sections.find(({ span }) => span.start <= snippet.start && snippet.start < span.end);
	words.snippet = piecesOf(points, snippet, matches);
	words.isCutBefore = section !== undefined && snippet.start > section.span.start;
	words.isCutAfter = section !== undefined && snippet.end < section.span.end;
	return words;
}

/** What kind of publication a record is, as far as that says more than "an article". */
export function kindsOf(record: RecordOut): string[] {
	return record.publication_types.filter(
		(kind) =>
			!/^(Journal Article|English Abstract|Research Support\b.*|Retracted Publication|Corrected and Republished Article)$/.test(
				kind,
			),
	);
}

export const formats = {
	ris: { label: 'RIS', ending: 'ris' },
	nbib: { label: 'NBIB', ending: 'nbib' },
	bibtex: { label: 'BibTeX', ending: 'bib' },
	'csl-json': { label: 'CSL-JSON', ending: 'json' },
	csv: { label: 'CSV', ending: 'csv' },
} as const;
export type Format = keyof typeof formats;

/** What an export takes: these records, or all that a request finds. */
export type ExportSource = { pmids: string[] } | { request: ListRequest; filters: SearchFilter };

export interface Exported {
	file: Blob;
	name: string;
	/** How many records were to be exported and how many the file holds, as the service counted; null if it did not say. */
	asked: number | null;
	exported: number | null;
	missing: string[];
}

export async function fetchExport(format: Format, source: ExportSource): Promise<Exported> {
	let body: object = source;
	if ('request' in source) {
		const { sort, descending } = orders[orderOf(source.request)];
		body = { query: source.request.query, filters: source.filters, sort, descending };
	}
	const response = await post('/api/export', { format, ...body });
	const missing = response.headers.get('x-medcite-missing') ?? '';
	return {
		file: await response.blob(),
		name: fileNameOf(response, `medcite.${formats[format].ending}`),
		asked: countIn(response.headers.get('x-medcite-asked')),
		exported: countIn(response.headers.get('x-medcite-exported')),
		missing: missing.split(/[\s,]+/).filter(Boolean),
	};
}

/** How an export ended, in words; `wanted` is the count that the reader saw. */
export function exportLine(
	{ asked, exported, missing, name }: Exported,
	wanted: number,
): { text: string; isWhole: boolean } {
	if (asked === null || exported === null) {
		return {
			text: `${name} was made, but the service did not say how many records it holds. Count them.`,
			isWhole: false,
		};
	}
	const parts = [`${exported.toLocaleString('en')} of ${asked.toLocaleString('en')} exported to ${name}.`];
	if (missing.length) parts.push(`Not in the corpus: ${missing.map((pmid) => `PMID ${pmid}`).join(', ')}.`);
	if (asked !== wanted) parts.push(`This page showed ${wanted.toLocaleString('en')}: the corpus has changed since.`);
	return { text: parts.join(' '), isWhole: exported === asked && asked === wanted };
}

/** The PMIDs that an error names as not in the corpus; of very many it names the first only. */
export function missingIn(message: string): string[] {
	const named = /not in this corpus: PMID (\d+(?:, \d+)*)/.exec(message)?.[1];
	return named?.split(', ') ?? [];
}

export type Style = 'vancouver' | 'apa';

/** A record as an entry of a reference list. */
export async function fetchCitation(pmid: string, style: Style): Promise<string> {
	const response = await fetch(`/api/records/${encodeURIComponent(pmid)}/citation?style=${style}`, {
		headers: { accept: 'application/json' },
	});
	if (!response.ok) throw await errorOf(response);
	return ((await response.json()) as { text: string }).text;
}

async function post(path: string, body: object, signal?: AbortSignal): Promise<Response> {
	const response = await fetch(path, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify(body),
		signal,
	});
	if (!response.ok) throw await errorOf(response);
	return response;
}

function countIn(header: string | null): number | null {
	return header !== null && /^\d+$/.test(header.trim()) ? Number(header) : null;
}

