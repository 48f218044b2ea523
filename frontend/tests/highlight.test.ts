import { expect, test } from 'vitest';
import { highlightedSections } from '../src/lib/highlight';
import { record } from './examples';

const joined = (section: ReturnType<typeof highlightedSections>[number]) =>
	section.stretches
		.flatMap((stretch) => stretch.runs)
		.map((run) => run.text)
		.join('');

test('quoted words are cut exactly, behind an astral character in the title', () => {
	const sections = highlightedSections(record(), [{ span: { start: 32, end: 57 }, shows: 'supports' }], []);
	const marked = sections[1]?.stretches.flatMap((s) => s.runs).filter((run) => run.shows);
	expect(marked).toEqual([{ text: 'Death fell from 18% to 12', shows: 'supports', isShown: false }]);
	expect(sections[0] && joined(sections[0])).toBe('A trial of 𝛽-blockers');
	expect(sections[1] && joined(sections[1])).toBe('Death fell from 18% to 12%. Nothing else changed.');
});

test('a quote across the edge of the shown passage keeps both marks', () => {
	const [, results] = highlightedSections(
		record(),
		[{ span: { start: 38, end: 70 }, shows: 'contradicts' }],
		[{ start: 32, end: 58 }],
	);
	expect(results?.stretches.map((s) => [s.isShown, s.runs.map((run) => [run.text, run.shows])])).toEqual([
		[
			true,
			[
				['Death ', ''],
				['fell from 18% to 12%', 'contradicts'],
			],
		],
		[
			false,
			[
				['. Nothing el', 'contradicts'],
				['se changed.', ''],
			],
		],
	]);
});

test('a quote that spans two sections is marked in both, without the label between', () => {
	const sections = highlightedSections(record(), [{ span: { start: 11, end: 37 }, shows: 'supports' }], []);
	const marked = sections.flatMap((s) => s.stretches.flatMap((t) => t.runs.filter((run) => run.shows)));
	expect(marked.map((run) => run.text)).toEqual(['𝛽-blockers', 'Death']);
});
