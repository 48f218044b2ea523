// A record's sections cut where highlights begin and end: quoted words, and the passage that the model was shown.
import { CodePointText } from './codepoints';
import type { RecordOut, SpanOut } from './events';

export interface Run {
	text: string;
	/** Set where a verdict quotes these words, or a search was for them. */
	shows: '' | 'supports' | 'contradicts' | 'matches';
	/** Whether the model was shown these words. */
	isShown: boolean;
}

/** A stretch that the model was shown or was not, so that a passage gets one outline around all its runs. */
export interface Stretch {
	isShown: boolean;
	runs: Run[];
}

export interface HighlightedSection {
	kind: 'title' | 'abstract';
	label: string;
	stretches: Stretch[];
}

/** Words to be marked; `shows` is a proof's word for what they do to a claim, or `matches` for words searched for. */
export interface Quote {
	span: SpanOut;
	shows: string;
}

/** All sections of a record, with the quotes and the shown spans marked. Joined, the runs of a section are its text. */
export function highlightedSections(record: RecordOut, quotes: readonly Quote[], shown: readonly SpanOut[]) {
	const points = new CodePointText(record.text);
	return record.sections.map((section): HighlightedSection => {
		const { start, end } = section.span;
		const cuts = new Set([start, end]);
		for (const span of [...quotes.map((quote) => quote.span), ...shown]) {
			for (const place of [span.start, span.end]) if (place > start && place < end) cuts.add(place);
		}
		const places = [...cuts].sort((a, b) => a - b);
		const stretches: Stretch[] = [];
		for (let i = 0; i + 1 < places.length; i++) {
			const piece = { start: places[i] as number, end: places[i + 1] as number };
			const quote =
				quotes.find((q) => q.shows === 'contradicts' && covers(q.span, piece)) ??
				quotes.find((q) => covers(q.span, piece));
			const isShown = shown.some((span) => covers(span, piece));
			const run: Run = {
				text: points.slice(piece),
				shows: quote ? markOf(quote.shows) : '',
				isShown,
			};
			const last = stretches.at(-1);
			if (last && last.isShown === isShown) last.runs.push(run);
			else stretches.push({ isShown, runs: [run] });
		}
		return { kind: section.kind, label: section.label, stretches };
	});
}

function markOf(shows: string): Run['shows'] {
	return shows === 'contradicts' || shows === 'matches' ? shows : 'supports';
}

function covers(outer: SpanOut, inner: SpanOut): boolean {
	return outer.start <= inner.start && inner.end <= outer.end;
}
