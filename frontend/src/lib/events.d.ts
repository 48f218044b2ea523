// Generated from events.schema.json by `npm run types`; do not edit.

export type RunMessage =
	| RunEvent
	| StageEvent
	| EvidenceEvent
	| EvidenceAddedEvent
	| TextEvent
	| ClaimEvent
	| ClaimStepEvent
	| VerdictEvent
	| FinishedEvent
	| IncompleteEvent
	| CancelledEvent
	| ErrorEvent;

/**
 * First event: the run's id, with which it can be resumed or cancelled.
 */
export interface RunEvent {
	run_id: string;
	schema_version: number;
	type: 'run';
}
/**
 * A step began or went on: `understand`, `search`, `read`, `write`, `check`. `total` 0 when not known.
 */
export interface StageEvent {
	done: number;
	name: string;
	total: number;
	type: 'stage';
}
/**
 * The numbered passages, and what was searched.
 */
export interface EvidenceEvent {
	evidence: EvidenceOut[];
	search: SearchReportOut;
	type: 'evidence';
}
/**
 * A numbered passage: `span` slices `record.text` to `text`.
 */
export interface EvidenceOut {
	chunk_id: string;
	number: number;
	pmid: string;
	record: RecordOut;
	score: number;
	section: string;
	span: SpanOut;
	text: string;
}
/**
 * A source as the page shows it. `text` is what every span of it slices.
 *
 * A document that was given to check against has its id in `document`, no PMID, its name as title, and `unread` parts.
 */
export interface RecordOut {
	authors: string[];
	authors_short: string;
	date: string;
	date_display: string;
	document: string;
	doi: string;
	doi_url: string;
	issue: string;
	journal: string;
	journal_abbreviation: string;
	keywords: string[];
	languages: string[];
	mesh_headings: string[];
	notices: NoticeOut[];
	page_count: number | null;
	pages: string;
	pmc_url: string;
	pmcid: string;
	pmid: string;
	publication_types: string[];
	pubmed_url: string;
	sections: SectionOut[];
	source_file: string;
	source_sha256: string;
	status: string;
	status_text: string;
	text: string;
	title: string;
	unread: string[];
	version: number;
	volume: string;
	year: number | null;
}
/**
 * A correction, retraction or comment that PubMed links to a record.
 */
export interface NoticeOut {
	kind: string;
	pmid: string;
	reference: string;
}
/**
 * A part of a record's text.
 */
export interface SectionOut {
	kind: 'title' | 'abstract';
	label: string;
	span: SpanOut;
}
/**
 * Offsets in Unicode code points.
 */
export interface SpanOut {
	end: number;
	start: number;
}
/**
 * What was really searched. `rewritten_from` is what the reader typed, when `query` is a follow-up made whole.
 */
export interface SearchReportOut {
	applied_filter: {
		[k: string]: unknown;
	};
	corpus_records: number;
	mode: 'hybrid' | 'lexical';
	note: string;
	passed: number;
	passed_by: {
		[k: string]: number;
	};
	query: string;
	rewritten_from: string;
}
/**
 * Passages found for or against a claim, numbered on from the earlier ones.
 */
export interface EvidenceAddedEvent {
	evidence: EvidenceOut[];
	type: 'evidence_added';
}
/**
 * The next piece of the answer's text.
 */
export interface TextEvent {
	delta: string;
	type: 'text';
}
/**
 * A claim was found in the answer's text.
 */
export interface ClaimEvent {
	claim: ClaimOut;
	type: 'claim';
}
/**
 * One checkable statement; `span` slices the answer's text, as `sentence` does, in which it stands.
 *
 * `meaning` is how it was understood, when its own words do not stand alone.
 */
export interface ClaimOut {
	cited: number[];
	id: string;
	is_quotation: boolean;
	kind: 'factual' | 'numeric' | 'comparative' | 'absence' | 'citation';
	meaning: string;
	sentence: SpanOut | null;
	span: SpanOut;
	text: string;
}
/**
 * A step in the check of one claim is done: `retrieve`, `judge`, `ask`, `check`, `revise`.
 */
export interface ClaimStepEvent {
	claim_id: string;
	step: string;
	type: 'claim_step';
}
/**
 * A claim was decided.
 */
export interface VerdictEvent {
	type: 'verdict';
	verdict: VerdictOut;
}
/**
 * The verdict of one claim. `review` says why a person should look at it; `searched` what was read and left out.
 */
export interface VerdictOut {
	calls: number;
	citation: 'right' | 'wrong_source' | 'not_found' | 'none';
	claim_id: string;
	confidence: number | null;
	explanation: string;
	judge: string;
	label: 'supported' | 'contradicted' | 'unsupported' | 'conflicting' | 'unchecked';
	model: string;
	prompt_version: string;
	proofs: ProofOut[];
	reason: string;
	review: string;
	searched: string;
	thresholds: {
		[k: string]: number;
	};
	votes: VoteOut[];
}
/**
 * What a verdict rests on. For a quote, `span` slices the text of the record `pmid` or the document `document`.
 */
export interface ProofOut {
	alignment: 'verbatim' | 'repaired';
	computation: ComputationOut | null;
	difference: string;
	document: string;
	evidence_number: number | null;
	kind: 'quote' | 'computation' | 'scan';
	page: number | null;
	pmid: string;
	scan: ScanOut | null;
	section: string;
	shows: string;
	span: SpanOut | null;
	text: string;
}
/**
 * A figure recomputed: `claimed` agrees with `result` when they differ by at most `tolerance`.
 */
export interface ComputationOut {
	claimed: number;
	formula: string;
	operands: OperandOut[];
	result: number;
	tolerance: number;
	unit: string;
}
/**
 * A figure that a computation takes from a source.
 */
export interface OperandOut {
	name: string;
	quote: ProofOut;
	value: number;
}
/**
 * The receipt of a full scan.
 */
export interface ScanOut {
	blocks_scanned: number;
	blocks_total: number;
	forms_tried: string[];
	is_complete: boolean;
	pages_scanned: number;
	pages_total: number;
	rows_scanned: number;
	sources: string[];
	unread_parts: string[];
}
/**
 * What one judge said, before the policy.
 */
export interface VoteOut {
	confidence: number | null;
	judge: string;
	label: 'supported' | 'contradicted' | 'unsupported' | 'conflicting' | 'unchecked';
	reason: string;
}
/**
 * The whole answer; it equals what the earlier events built up.
 */
export interface FinishedEvent {
	answer: AnswerOut;
	outcome: string;
	type: 'finished';
}
/**
 * A finished answer.
 */
export interface AnswerOut {
	checked: number;
	claims: ClaimOut[];
	evidence: EvidenceOut[];
	evidence_found: number;
	groundedness: number | null;
	mode: 'generated' | 'quotations' | 'given';
	outcome: 'answered' | 'nothing_relevant' | 'corpus_empty';
	question: string;
	schema_version: number;
	search: SearchReportOut;
	sentences: SentenceOut[];
	statements: StatementOut[];
	text: string;
	timings_ms: {
		[k: string]: number;
	};
	total: number;
	verdicts: VerdictOut[];
	versions: {
		[k: string]: string;
	};
}
/**
 * A sentence of the answer that holds claims, and the worst of their labels.
 */
export interface SentenceOut {
	label: 'supported' | 'contradicted' | 'unsupported' | 'conflicting' | 'unchecked' | 'partly_supported';
	span: SpanOut;
}
/**
 * A sentence of the answer that cannot be checked, and of what kind it is.
 */
export interface StatementOut {
	kind: 'question' | 'greeting' | 'heading' | 'about_the_sources' | 'opinion' | 'instruction' | 'fragment';
	span: SpanOut;
	text: string;
}
/**
 * The answer stopped half-way; `text` is what there is. It must not be shown or kept as a finished one.
 */
export interface IncompleteEvent {
	error: ErrorOut | null;
	reason: string;
	text: string;
	type: 'incomplete';
}
/**
 * An error in words; `code` is for programs.
 */
export interface ErrorOut {
	code: string;
	hint: string;
	message: string;
	request_id: string;
	retryable: boolean;
}
/**
 * The run was cancelled.
 */
export interface CancelledEvent {
	type: 'cancelled';
}
/**
 * The run failed before there was an answer.
 */
export interface ErrorEvent {
	error: ErrorOut;
	type: 'error';
}
