// Verdicts in words: what the page prints, and what it says aloud.
import type { SentenceLabel } from './sentences';
import type { AnswerOut, ClaimOut, SearchReportOut, VerdictOut } from './events';

export type Label = VerdictOut['label'];

export const labels: readonly Label[] = ['supported', 'contradicted', 'conflicting', 'unsupported', 'unchecked'];

export const verdictWords: Record<SentenceLabel, string> = {
	supported: 'Supported',
	contradicted: 'Contradicted',
	conflicting: 'Conflicting',
	partly_supported: 'Partly supported',
	unsupported: 'Unsupported',
	unchecked: 'Unchecked',
};

/** The word on a sentence's mark. A quotation is only said to be one: its words are the source's, whether or not they answer. */
export function verdictWord(label: SentenceLabel, isQuotation: boolean): string {
	return isQuotation && label === 'supported' ? 'Quoted word for word' : verdictWords[label];
}

export const verdictMeanings: Record<Label, string> = {
	supported: 'The cited words say this.',
	contradicted: 'The source says something else.',
	conflicting: 'One source says this, another denies it.',
	unsupported: 'The sources were read and do not say this.',
	unchecked: 'This could not be decided. It is neither confirmed nor denied.',
};

const citationWords: Record<VerdictOut['citation'], string> = {
	right: '',
	none: 'This sentence cites no source.',
	wrong_source: 'The number cited is not the source of these words.',
	not_found: 'A number cited here belongs to no source of this answer.',
};

/** What is wrong with a sentence's citation; empty when nothing is. */
export function citationNote(verdict: VerdictOut): string {
	return citationWords[verdict.citation] ?? '';
}

const uncheckedWords: Record<string, string> = {
	no_judge_for_paraphrase: 'The source may say this in other words. No judge that can read other wording is set up here, so compare it yourself.',
	judge_failed: 'The judge failed or gave no proof that holds. Checking again may help.',
	judges_disagree: 'The judges came to different verdicts.',
	formula_unknown: 'The figures stand in the source, but how this one follows from them is not known.',
	source_unreadable: 'A part of the source has no text that can be read.',
	source_missing: 'The source was not there to be read.',
	similar_words: 'Words much like these stand in the source; whether they are meant is for a person to say.',
	scan_unclear: 'The source was searched, but what was found can be read either way.',
	scan_incomplete: 'Not all of the source could be searched, so that it is absent cannot be said.',
	several_candidates: 'Several places in the source could be meant, and they differ.',
	author_differs: 'The authors or the year named here are not those of the record.',
	citation_not_found: 'The source cited here is not there.',
	no_citation: 'The sentence cites no source.',
	quote_altered: 'Nearly these words stand in the source, but not exactly.',
	not_in_sources: 'No passage that was read holds these words.',
};

/** Why nothing was decided, in words for a reader; empty for a verdict that was reached. */
export function whyUnchecked(verdict: VerdictOut): string {
	return verdict.label === 'unchecked' ? (uncheckedWords[verdict.reason] ?? '') : '';
}

export interface VerdictCounts {
	total: number;
	supported: number;
	checked: number;
}

export function countVerdicts(claims: readonly ClaimOut[], verdicts: readonly VerdictOut[]): VerdictCounts {
	return {
		total: claims.length,
		supported: verdicts.filter((verdict) => verdict.label === 'supported').length,
		checked: verdicts.filter((verdict) => verdict.label !== 'unchecked').length,
	};
}

/** "4 of 5 sentences supported; 5 of 5 could be checked". */
export function groundednessLine({ total, supported, checked }: VerdictCounts): string {
	return `${supported} of ${total} ${total === 1 ? 'sentence' : 'sentences'} supported; ${checked} of ${total} could be checked`;
}

/** What a screen reader hears when an answer is done. */
export function finishedAnnouncement(answer: AnswerOut): string {
	if (answer.outcome !== 'answered') return 'No answer: nothing relevant was found in the corpus.';
	const what = answer.mode === 'given' ? 'Check' : 'Answer';
	if (!answer.claims.length) return `${what} finished. It has no sentence that could be checked.`;
	if (answer.mode === 'quotations') {
		const n = answer.claims.length;
		return `Answer finished. It consists of ${n} ${n === 1 ? 'quotation' : 'quotations'}.`;
	}
	const parts = labels
		.map((label) => ({ label, n: answer.verdicts.filter((verdict) => verdict.label === label).length }))
		.filter(({ n }) => n > 0)
		.map(({ label, n }) => `${n} ${label}`);
	return answer.mode === 'given' ? `Check finished: ${parts.join(', ')}.` : `Answer finished and checked: ${parts.join(', ')}.`;
}

const stageWords: Record<string, string> = {
	understand: 'Reading the question with the ones before it',
	search: 'Searching the corpus',
	read: 'Reading the passages',
	write: 'Writing the answer',
	check: 'Checking each sentence against its source',
};

/** A stage in words; one that the page does not know yet is shown by its name. */
export function stageText(name: string, done = 0, total = 0): string {
	const words = stageWords[name] ?? name;
	return total > 0 ? `${words} (${done} of ${total})` : words;
}

/** The "What was searched" line: how, under which filter, and how much of the corpus passed it. */
export function searchLine(search: SearchReportOut): string {
	const how = !search.query ? 'No words searched for' : search.mode === 'hybrid' ? 'By words and meaning' : 'By words alone';
	const filter = filterWords(search.applied_filter);
	const passed = `${search.passed.toLocaleString('en')} of ${search.corpus_records.toLocaleString('en')} records`;
	return `${how} · ${filter ? `${filter} · ${passed} passed` : `no filter · ${passed}`}`;
}

const fieldWords: Record<string, string> = {
	has_pmcid: 'free full text',
	exclude_retracted: 'retracted records left out',
	publication_types: 'publication type',
	languages: 'language',
};

function fieldWord(name: string): string {
	return fieldWords[name] ?? name.replaceAll('_', ' ');
}

function yearWords(from: unknown, to: unknown): string {
	if (from != null && to != null) return from === to ? `year ${from}` : `years ${from} to ${to}`;
	if (from != null) return `from ${from}`;
	return to != null ? `until ${to}` : '';
}

/** A filter as words: `years 2010 to 2020, title “statin”`. Empty when nothing is filtered. */
export function filterWords(filter: { [key: string]: unknown }): string {
	const { year_from: from, year_to: to, ...rest } = filter;
	const words = Object.entries(rest).map(([name, value]) => {
		if (value === true) return fieldWord(name);
		if (Array.isArray(value))
			return value.length ? `${fieldWord(name)} ${value.map((item) => `“${item}”`).join(' or ')}` : '';
		return typeof value === 'string' && value ? `${fieldWord(name)} “${value}”` : '';
	});
	return [yearWords(from, to), ...words].filter(Boolean).join(', ');
}

/** How many records pass each part of the filter by itself; empty when there is only one part. */
export function passedByWords({ passed_by: passedBy }: SearchReportOut): string {
	const parts = Object.entries(passedBy);
	if (parts.length < 2) return '';
	return `Each by itself: ${parts.map(([name, n]) => `${fieldWord(name)} ${n.toLocaleString('en')}`).join(', ')}`;
}

/** A message of the service as a sentence: with a capital and a full stop. */
export function asSentence(message: string): string {
	const text = message.trim();
	if (!text) return '';
	const start = text.startsWith('medcite') ? text : text.slice(0, 1).toUpperCase() + text.slice(1);
	return /[.!?…]$/.test(start) ? start : `${start}.`;
}
