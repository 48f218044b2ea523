// Sentences of an answer: several claims may share one, and it shows the worst of them.
import { CodePointText } from './codepoints';
import type { ClaimOut, VerdictOut } from './events';

export type SentenceLabel = VerdictOut['label'] | 'partly_supported';

/** The label of a sentence with these claims, as the service words it: a supported part does not make the whole supported. */
export function worstLabel(labels: readonly VerdictOut['label'][]): SentenceLabel | null {
	const distinct = new Set(labels);
	if (distinct.size <= 1) return labels[0] ?? null;
	if (distinct.has('contradicted')) return 'contradicted';
	if (distinct.has('conflicting')) return 'conflicting';
	return distinct.has('supported') ? 'partly_supported' : 'unsupported';
}

export interface Sentence {
	/** The sentence as one claim: its span and words, every citation of it, the id of its first claim. */
	whole: ClaimOut;
	claims: ClaimOut[];
}

/** Claims by the sentence that they stand in, in the order of the text. */
export function sentencesOf(text: string, claims: readonly ClaimOut[]): Sentence[] {
	const bySpan = new Map<string, ClaimOut[]>();
	for (const claim of claims) {
		const { start, end } = claim.sentence ?? claim.span;
		const key = `${start}-${end}`;
		bySpan.set(key, [...(bySpan.get(key) ?? []), claim]);
	}
	const points = new CodePointText(text);
	const sentences = [...bySpan.values()].flatMap((all): Sentence[] => {
		const parts = [...all].sort((a, b) => a.span.start - b.span.start);
		const [first] = parts;
		if (!first) return [];
		const span = first.sentence ?? first.span;
		const words = parts.length > 1 ? text.slice(points.unit(span.start), points.unit(span.end)) : first.text;
		const cited = [...new Set(parts.flatMap((claim) => claim.cited))];
		const isQuotation = parts.every((claim) => claim.is_quotation);
		return [{ whole: { ...first, span, text: words, cited, is_quotation: isQuotation }, claims: parts }];
	});
	return sentences.sort((a, b) => a.whole.span.start - b.whole.span.start);
}
