import { expect, test } from 'vitest';
import type { ProofOut, VerdictOut } from '../src/lib/events';
import { wordsShown } from '../src/lib/proofs';

function quote(start: number, shows = 'supports'): ProofOut {
	return {
		alignment: 'verbatim', computation: null, difference: '', document: 'doc:1', evidence_number: 1, kind: 'quote', page: null,
		pmid: '', scan: null, section: '', shows, span: { start, end: start + 5 }, text: 'words',
	} as ProofOut;
}

function verdict(...proofs: ProofOut[]): VerdictOut {
	return { proofs } as unknown as VerdictOut;
}

test('the sentences that a computation takes its figures from are shown once, and the way the computation speaks', () => {
	const operands = [0, 0, 9].map((start, at) => ({ name: `x${at}`, value: at, quote: quote(start) }));
	const computed = { ...quote(0, 'contradicts'), kind: 'computation', span: null, computation: { operands } } as unknown as ProofOut;
	expect(wordsShown(verdict(computed)).map((one) => [one.span?.start, one.shows])).toEqual([
		[0, 'contradicts'],
		[9, 'contradicts'],
	]);
});

test('quotes stand as they are, and no verdict rests on nothing', () => {
	expect(wordsShown(verdict(quote(3), quote(3), quote(3, 'closest')))).toHaveLength(2);
	expect(wordsShown(null)).toEqual([]);
});
