// The words of sources that a verdict rests on, whatever kind of proof they stand in.
import type { ProofOut, VerdictOut } from './events';

/** The quotes of a verdict and those that its computations take figures from, once each, the way that they speak. */
export function wordsShown(verdict: VerdictOut | null): ProofOut[] {
	const seen = new Set<string>();
	return (verdict?.proofs ?? [])
		.flatMap((proof) => [
			...(proof.kind === 'quote' ? [proof] : []),
			...(proof.computation?.operands ?? []).map((operand) => ({ ...operand.quote, shows: proof.shows })),
		])
		.filter((quote) => {
			const key = [quote.document || quote.pmid, quote.span?.start, quote.span?.end, quote.shows].join(' ');
			return !seen.has(key) && seen.add(key);
		});
}
