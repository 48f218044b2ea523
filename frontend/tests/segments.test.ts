import { expect, test } from 'vitest';
import {
	citedIn,
	type Inline,
	inlinesOf,
	isLastOfClaim,
	type Paragraph,
	paragraphsOf,
	partTail,
} from '../src/lib/segments';
import { claim } from './examples';

const written = (inlines: readonly Inline[]) =>
	inlines.map((inline) => (inline.kind === 'words' ? inline.text : `[${inline.number}]`)).join('');
const pageText = (paragraphs: readonly Paragraph[]) =>
	paragraphs.map((paragraph) => paragraph.map((segment) => written(segment.inlines)).join('')).join('\n');

test('words and citations are told apart, and a number without evidence is not known', () => {
	expect(inlinesOf('It helps [1, 3]; so [9].', new Set([1, 3]))).toEqual([
		{ kind: 'words', text: 'It helps ' },
		{ kind: 'citation', number: 1, isKnown: true },
		{ kind: 'citation', number: 3, isKnown: true },
		{ kind: 'words', text: '; so ' },
		{ kind: 'citation', number: 9, isKnown: false },
		{ kind: 'words', text: '.' },
	]);
});

test('brackets that hold no citation stay words', () => {
	expect(inlinesOf('[a] [1234] p[<0.05]', new Set([1]))).toEqual([{ kind: 'words', text: '[a] [1234] p[<0.05]' }]);
});

test('claims are found by code points, also behind astral characters, and no word is lost', () => {
	const text = 'Well: 𝛽-blockers help 🫀 [1]. They are cheap [2].\n\nAsk a doctor.';
	const claims = [claim('c2', 'They are cheap [2].', text, [2]), claim('c1', '𝛽-blockers help 🫀 [1].', text, [1])];
	const paragraphs = paragraphsOf(text, claims, new Set([1, 2]));
	expect(paragraphs.map((p) => p.map((s) => [s.claim?.id ?? null, written(s.inlines)]))).toEqual([
		[
			[null, 'Well: '],
			['c1', '𝛽-blockers help 🫀 [1].'],
			[null, ' '],
			['c2', 'They are cheap [2].'],
		],
		[[null, 'Ask a doctor.']],
	]);
	expect(pageText(paragraphs)).toBe(text.replace('\n\n', '\n'));
});

test('citations behind a claim stand before its mark', () => {
	const text = 'It helps [1][2]. It harms.';
	const [first] = paragraphsOf(text, [claim('c1', 'It helps', text), claim('c2', 'It harms.', text)], new Set([1, 2]));
	expect(first?.map((s) => written(s.inlines))).toEqual(['It helps [1][2].', ' ', 'It harms.']);
});

test('overlapping and empty claims neither repeat nor lose words', () => {
	const text = 'One two three.';
	const claims = [claim('a', 'One two', text), claim('b', 'two three.', text), claim('c', '', text)];
	const paragraphs = paragraphsOf(text, claims, new Set());
	expect(pageText(paragraphs)).toBe(text);
	expect(paragraphs.flat().map((s) => s.claim?.id)).toEqual(['a', 'b']);
});

test('a claim over two lines carries its mark once, at its end', () => {
	const text = 'It helps\nand harms.';
	const paragraphs = paragraphsOf(text, [claim('c1', text, text)], new Set());
	expect(paragraphs.flat().map((segment) => isLastOfClaim(paragraphs, segment))).toEqual([false, true]);
});

test('the tail holds the last word with its citations, so that a mark is never alone on a line', () => {
	const { body, tail } = partTail(inlinesOf('with placebo [1].', new Set([1])));
	expect(written(body)).toBe('with ');
	expect(written(tail)).toBe('placebo [1].');
});

test('a long row of citations is left to break', () => {
	const inlines = inlinesOf('word [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].', new Set());
	expect(partTail(inlines)).toEqual({ body: inlines, tail: [] });
});

test('numbers cited in a text are found each once', () => {
	expect([...citedIn('a [2] b [1; 2]')]).toEqual([2, 1]);
});
