// What the evidence panel shows: a sentence of an answer with its proofs, or one numbered passage.
import type { EvidenceOut, VerdictOut } from '../lib/events';
import type { Quote } from '../lib/highlight';
import { wordsShown } from '../lib/proofs';
import { sourceIdOf } from '../lib/stored';
import type { Run } from './run.svelte';

export class Selection {
	run = $state.raw<Run | null>(null);
	claimId = $state('');
	/** Evidence number of the record in view; 0 when there is none. */
	number = $state(0);
	isOpen = $state(false);

	readonly claim = $derived(this.run?.claims.find((claim) => claim.id === this.claimId) ?? null);
	/** The sentence that the claim is part of. */
	readonly sentence = $derived(
		this.run?.sentences.find(({ claims }) => claims.some(({ id }) => id === this.claimId)) ?? null,
	);
	readonly verdict = $derived<VerdictOut | null>(this.run?.verdictOf.get(this.claimId) ?? null);
	readonly evidence = $derived<EvidenceOut | null>(
		this.run?.evidence.find((item) => item.number === this.number) ?? null,
	);
	/** Quotes of this sentence from the record in view. */
	readonly quotes = $derived.by((): Quote[] => {
		const source = this.evidence ? sourceIdOf(this.evidence.record) : '';
		return wordsShown(this.verdict).flatMap((quote) =>
			quote.span && (quote.document || quote.pmid) === source ? [{ span: quote.span, shows: quote.shows }] : [],
		);
	});
	/** Every span of the record in view that the answer was made from; none for a text that was given to be checked. */
	readonly shownSpans = $derived(
		(this.run?.mode === 'given' ? [] : (this.run?.evidence ?? []))
			.filter((item) => this.evidence && sourceIdOf(item.record) === sourceIdOf(this.evidence.record))
			.filter((item) => !this.run?.added.has(item.number))
			.map((item) => item.span),
	);
	/** Evidence numbers worth offering: those of the sentence's proofs and citations, or all of the answer. */
	readonly numbers = $derived.by((): number[] => {
		const run = this.run;
		if (!run) return [];
		const own = this.claim ? [...proofNumbers(run, this.verdict), ...this.claim.cited] : [];
		const wanted = own.length ? own : run.evidence.map((item) => item.number);
		return [...new Set(wanted)].filter((number) => run.numbers.has(number)).sort((a, b) => a - b);
	});

	/** Show a sentence: its verdict, and the record that decides it. */
	showClaim(run: Run, claimId: string): void {
		this.run = run;
		this.claimId = claimId;
		const cited = run.claims.find((claim) => claim.id === claimId)?.cited ?? [];
		const proofs = proofNumbers(run, run.verdictOf.get(claimId) ?? null);
		this.number = [...proofs, ...cited].find((number) => run.numbers.has(number)) ?? 0;
		this.isOpen = true;
	}

	/** Show a passage by its number, within the sentence that cites it if there is one. */
	showNumber(run: Run, number: number, claimId = ''): void {
		this.run = run;
		this.claimId = claimId;
		this.number = number;
		this.isOpen = true;
	}

	close(): void {
		this.isOpen = false;
	}
}

function proofNumbers(run: Run, verdict: VerdictOut | null): number[] {
	return wordsShown(verdict).flatMap((proof) => {
		if (proof.evidence_number != null) return [proof.evidence_number];
		const same = run.evidence.find((item) => sourceIdOf(item.record) === (proof.document || proof.pmid));
		return same ? [same.number] : [];
	});
}
