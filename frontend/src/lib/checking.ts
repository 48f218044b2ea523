// What a check is asked: its limits, its request, the files that can be read here, and the line that sums it up.
import { codePointLength } from './codepoints';
import type { ClaimOut, VerdictOut } from './events';
import { countVerdicts } from './verdicts';

/** The service's own limits. */
export const limits = { textChars: 20_000, claims: 200, claimChars: 2_000, sources: 50, sourceChars: 500_000, bodyBytes: 1_000_000 };

export type Kind = 'text' | 'claims';
export type Against = 'corpus' | 'records' | 'texts';

export interface SourceText {
	name: string;
	text: string;
}

/** What a reader filled in. */
export interface CheckInput {
	kind: Kind;
	text: string;
	question: string;
	against: Against;
	pmids: string;
	sources: SourceText[];
}

export interface CheckBody {
	text?: string;
	claims?: string[];
	question: string;
	sources: 'corpus' | (string | SourceText)[];
	ask_anew?: boolean;
}

export const emptyInput = (): CheckInput => ({ kind: 'text', text: '', question: '', against: 'corpus', pmids: '', sources: [] });

export function claimsIn(text: string): string[] {
	return text.split('\n').flatMap((line) => line.trim() || []);
}

/** PMIDs as people list them: by lines, commas, spaces, with or without "PMID". */
export function pmidsIn(text: string): { pmids: string[]; others: string[] } {
	const words = text.split(/[\s,;]+/).filter((word) => word && !/^pmids?:?$/i.test(word));
	const bare = words.map((word) => word.replace(/^pmid:?/i, ''));
	return {
		pmids: [...new Set(bare.filter((word) => /^\d{1,9}$/.test(word)))],
		others: bare.filter((word) => !/^\d{1,9}$/.test(word)),
	};
}

/** Why a check cannot begin, in words; empty when it can. */
export function problemOf(input: CheckInput): string {
	const length = codePointLength(input.text.trim());
	if (!length) return input.kind === 'text' ? 'Paste the text to check.' : 'Write at least one claim.';
	if (input.kind === 'text' && length > limits.textChars)
		return `The text has ${count(length)} characters; at most ${count(limits.textChars)} are checked at once. Check it in parts.`;
	if (input.kind === 'claims') {
		const claims = claimsIn(input.text);
		if (claims.length > limits.claims)
			return `These are ${count(claims.length)} claims; at most ${limits.claims} are checked here. \`medcite batch\` takes a file of any length.`;
		const long = claims.findIndex((claim) => codePointLength(claim) > limits.claimChars);
		if (long >= 0) return `Claim ${long + 1} is longer than ${count(limits.claimChars)} characters.`;
	}
	return againstProblem(input) || sizeProblem(input);
}

function againstProblem(input: CheckInput): string {
	if (input.against === 'records') {
		const { pmids, others } = pmidsIn(input.pmids);
		if (others.length) return `“${others[0]}” is no PMID: give their digits, with commas or on lines.`;
		if (!pmids.length) return 'Name at least one PMID.';
		if (pmids.length > limits.sources) return `At most ${limits.sources} records can be named.`;
	}
	if (input.against === 'texts') {
		const full = input.sources.filter((source) => source.text.trim());
		if (!full.length) return 'Add a text to check against: paste one, or choose a file.';
		if (full.length > limits.sources) return `At most ${limits.sources} texts can be given.`;
		const long = full.find((source) => codePointLength(source.text) > limits.sourceChars);
		if (long) return `“${long.name}” is longer than ${count(limits.sourceChars)} characters. \`medcite verify --against FILE\` reads it.`;
	}
	return '';
}

function sizeProblem(input: CheckInput): string {
	const bytes = new Blob([JSON.stringify(bodyOf(input))]).size;
	return bytes > limits.bodyBytes
		? 'Text and sources together are too large for the page. `medcite verify --against FILE` reads larger ones.'
		: '';
}

/** The request of a check. */
export function bodyOf(input: CheckInput): CheckBody {
	const what = input.kind === 'text' ? { text: input.text.trim() } : { claims: claimsIn(input.text) };
	return { ...what, question: input.question.trim(), sources: sourcesOf(input) };
}

function sourcesOf(input: CheckInput): CheckBody['sources'] {
	if (input.against === 'corpus') return 'corpus';
	if (input.against === 'records') return pmidsIn(input.pmids).pmids;
	return input.sources
		.filter((source) => source.text.trim())
		.map((source, at) => ({ name: source.name.trim() || `Text ${at + 1}`, text: source.text }));
}

/** What a check was made against, in words. */
export function againstLine(body: CheckBody): string {
	const { sources } = body;
	if (sources === 'corpus') return 'Checked against the corpus';
	const texts = sources.filter((source): source is SourceText => typeof source !== 'string');
	const names = texts.length ? texts.map((source) => `“${source.name}”`) : sources.map((pmid) => `PMID ${pmid}`);
	const shown = names.slice(0, 3).join(', ');
	return `Checked against ${shown}${names.length > 3 ? ` and ${names.length - 3} more` : ''}`;
}

/** "3 of 4 claims supported; 4 of 4 could be checked". */
export function checkedLine(claims: readonly ClaimOut[], verdicts: readonly VerdictOut[]): string {
	const { total, supported, checked } = countVerdicts(claims, verdicts);
	return `${supported} of ${total} ${total === 1 ? 'claim' : 'claims'} supported; ${checked} of ${total} could be checked`;
}

const readable = /\.(?:txt|text|md|markdown|csv)$/i;

/** A file's text; throws an `Error` that says what is wrong with it in words. */
export async function readSource(file: File): Promise<SourceText> {
	if (!readable.test(file.name))
		throw new Error(`${file.name} is not read here: choose .txt, .md or .csv. Papers and PubMed files go to \`medcite verify --against\`.`);
	if (file.size > limits.bodyBytes) throw new Error(`${file.name} is larger than ${count(limits.bodyBytes / 1000)} kB.`);
	let text: string;
	try {
		text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
	} catch {
		throw new Error(`${file.name} is not UTF-8 text. Save it as UTF-8, or give it to \`medcite verify --against\`.`);
	}
	if (!text.trim()) throw new Error(`${file.name} is empty.`);
	return { name: file.name.slice(0, 200), text };
}

function count(n: number): string {
	return n.toLocaleString('en');
}

export const reportFormats = {
	json: 'JSON',
	csv: 'CSV',
	markdown: 'Markdown',
	original: 'JSON of the original fact checker',
	'trec-biogen': 'TREC BioGen',
	scifact: 'SciFact',
} as const;
export type ReportFormat = keyof typeof reportFormats;
