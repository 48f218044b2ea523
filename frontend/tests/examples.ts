// Small values of the service's shapes, for tests.
import type { AnswerOut, ClaimOut, EvidenceOut, RecordOut, SearchReportOut, VerdictOut } from '../src/lib/events';
import type { StoredTurn } from '../src/lib/stored';

export function record(overrides: Partial<RecordOut> = {}): RecordOut {
	return {
		pmid: '101',
		version: 1,
		title: 'A trial of 𝛽-blockers',
		text: 'A trial of 𝛽-blockers\n\nRESULTS: Death fell from 18% to 12%. Nothing else changed.',
		sections: [
			{ kind: 'title', label: '', span: { start: 0, end: 21 } },
			{ kind: 'abstract', label: 'RESULTS', span: { start: 32, end: 81 } },
		],
		authors: ['Doe A', 'Roe B'],
		authors_short: 'Doe A, Roe B',
		journal: 'Lancet (London, England)',
		journal_abbreviation: 'Lancet',
		volume: '377',
		issue: '9770',
		pages: '1011-8',
		year: 2011,
		date: '2011-03',
		date_display: '2011 Mar',
		publication_types: [],
		mesh_headings: [],
		keywords: [],
		languages: ['eng'],
		doi: '10.1/x',
		pmcid: 'PMC1',
		status: 'no_notice',
		status_text: 'No notice in PubMed as of 2020-01-01',
		notices: [],
		pubmed_url: 'https://pubmed.ncbi.nlm.nih.gov/101/',
		doi_url: 'https://doi.org/10.1/x',
		pmc_url: 'https://pmc.ncbi.nlm.nih.gov/articles/PMC1/',
		source_file: 'a.xml',
		source_sha256: 'ab'.repeat(32),
		document: '',
		page_count: null,
		unread: [],
		...overrides,
	};
}

export function evidence(number: number, overrides: Partial<RecordOut> = {}): EvidenceOut {
	const of = record(overrides);
	return {
		number,
		pmid: of.pmid,
		chunk_id: `${of.pmid}:32-64`,
		section: 'RESULTS',
		span: { start: 32, end: 57 },
		text: 'Death fell from 18% to 12%',
		score: 0.9,
		record: of,
	};
}

export function claim(id: string, text: string, within: string, cited: number[] = []): ClaimOut {
	const start = [...within.slice(0, within.indexOf(text))].length;
	const span = { start, end: start + [...text].length };
	return { id, span, text, cited, is_quotation: false, kind: 'factual', sentence: span, meaning: '' };
}

export function verdict(claimId: string, overrides: Partial<VerdictOut> = {}): VerdictOut {
	return {
		claim_id: claimId,
		label: 'supported',
		reason: 'verbatim',
		explanation: 'The source has these words.',
		proofs: [],
		citation: 'right',
		judge: 'rules',
		model: '',
		prompt_version: '',
		thresholds: {},
		confidence: null,
		votes: [],
		review: '',
		searched: '',
		calls: 0,
		...overrides,
	};
}

export const search: SearchReportOut = {
	mode: 'hybrid',
	applied_filter: {},
	passed: 1302,
	passed_by: {},
	corpus_records: 1302,
	query: 'q',
	note: '',
	rewritten_from: '',
};

export function answer(text: string, overrides: Partial<AnswerOut> = {}): AnswerOut {
	return {
		schema_version: 1,
		question: 'q',
		text,
		mode: 'generated',
		outcome: 'answered',
		claims: [],
		verdicts: [],
		evidence: [],
		evidence_found: 0,
		search,
		groundedness: null,
		checked: 0,
		total: 0,
		versions: {},
		timings_ms: {},
		statements: [],
		sentences: [],
		...overrides,
	} as AnswerOut;
}

/** A response whose body is these pieces, read one after another; `ending` says how the connection ends. */
export function streamed(pieces: readonly (string | Uint8Array)[], ending: 'close' | 'break' = 'close'): Response {
	const body = new ReadableStream<Uint8Array>({
		async start(controller) {
			for (const piece of pieces) {
				controller.enqueue(typeof piece === 'string' ? new TextEncoder().encode(piece) : piece);
				await new Promise((resolve) => setTimeout(resolve));
			}
			if (ending === 'close') controller.close();
			else controller.error(new TypeError('network error'));
		},
	});
	return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
}

/** One event as the service writes it. */
export function sent(id: number, message: { type: string } & Record<string, unknown>): string {
	return `id: ${id}\nevent: ${message.type}\ndata: ${JSON.stringify(message)}\n\n`;
}

/** A kept turn without an answer. */
export const storedTurn = (question: string, text = ''): StoredTurn => ({
	question,
	filter: {},
	standsAlone: false,
	run: {
		state: 'cancelled',
		runId: '',
		text,
		search: null,
		claims: [],
		verdicts: [],
		evidence: [],
		records: [],
		answer: null,
		error: null,
		reason: '',
	},
});
