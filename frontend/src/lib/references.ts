// The reference list under an answer: records, not passages, each with all the numbers by which it was cited.
import type { EvidenceOut, RecordOut } from './events';
import { sourceIdOf } from './stored';

export interface Reference {
	record: RecordOut;
	/** Evidence numbers of this record, smallest first. */
	numbers: number[];
	isCited: boolean;
}

/** Group evidence by record or document: cited records first, each group in the order of its smallest (cited) number. */
export function referencesOf(evidence: readonly EvidenceOut[], cited: ReadonlySet<number>): Reference[] {
	const bySource = new Map<string, Reference>();
	for (const item of [...evidence].sort((a, b) => a.number - b.number)) {
		const id = sourceIdOf(item.record);
		const reference = bySource.get(id) ?? { record: item.record, numbers: [], isCited: false };
		reference.numbers.push(item.number);
		reference.isCited ||= cited.has(item.number);
		bySource.set(id, reference);
	}
	const all = [...bySource.values()];
	return [...all.filter((reference) => reference.isCited), ...all.filter((reference) => !reference.isCited)];
}

/** "Lancet. 2011;377(9770):1011-8", as far as the parts are known. */
export function sourceLine(record: RecordOut): string {
	const journal = record.journal_abbreviation || record.journal;
	const issue = `${record.volume}${record.issue ? `(${record.issue})` : ''}`;
	const place = [issue, record.pages].filter(Boolean).join(':');
	// PubMed writes some dates as bare numbers ("2018 11 01").
	const date = /^\d{4}( \d{1,2}){1,2}$/.test(record.date_display) ? record.date : record.date_display;
	// An abbreviation may bring its own full stop.
	return [journal.replace(/\.$/, ''), [date, place].filter(Boolean).join('; ')].filter(Boolean).join('. ');
}

/** "Doe A." or "Doe A et al.", with one full stop. */
export function authorsSentence(record: RecordOut): string {
	return record.authors_short.endsWith('.') ? record.authors_short : `${record.authors_short}.`;
}

/** Statuses that a reader must see before the words of the record. */
export function isGrave(status: string): boolean {
	return ['retracted', 'partially_retracted', 'retraction_notice', 'expression_of_concern'].includes(status);
}
