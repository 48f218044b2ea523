// @vitest-environment jsdom
// Components mounted in jsdom: what a hostile text may not do, and what each state must say.
import { readFileSync } from 'node:fs';
import { cleanup, render, screen } from '@testing-library/svelte';
import { afterEach, expect, test, vi } from 'vitest';
import EvidencePanel from '../src/components/EvidencePanel.svelte';
import TurnView from '../src/components/TurnView.svelte';
import type { RunMessage } from '../src/lib/events';
import { Turn } from '../src/state/conversation.svelte';
import { Run } from '../src/state/run.svelte';
import { Selection } from '../src/state/selection.svelte';
import { answer, claim, evidence, record, search, verdict } from './examples';

afterEach(cleanup);

function shown(...messages: object[]) {
	const run = new Run('/api/ask', {});
	for (const message of messages) run.apply(message as RunMessage);
	const onRetry = vi.fn();
	const selection = new Selection();
	const view = render(TurnView, { turn: new Turn('turn-1', 'q', {}, run), selection, onRetry });
	return { ...view, run, selection, onRetry };
}

const payloads = readFileSync('tests/inputs/FR-133-payloads.txt', 'utf8').split('\n').filter(Boolean);

test.each(payloads)('FR-133: %s in answer, title, abstract, journal and notice stays text', (payload) => {
	const text = `${payload} helps [1].`;
	const hostile = record({
		title: payload,
		text: `${payload}\n\n${payload}`,
		sections: [
			{ kind: 'title', label: '', span: { start: 0, end: [...payload].length } },
			{ kind: 'abstract', label: payload, span: { start: [...payload].length + 2, end: 2 * [...payload].length + 2 } },
		],
		journal: payload,
		authors: [payload],
		authors_short: payload,
		doi_url: 'javascript:alert(1)',
		status: 'retracted',
		status_text: payload,
		notices: [{ kind: 'retracted', pmid: '"><script>alert(1)</script>', reference: payload }],
		source_file: payload,
	});
	const found = [{ ...evidence(1), pmid: hostile.pmid, record: hostile }];
	const claims = [claim('c1', text, text, [1])];
	const verdicts = [verdict('c1', { explanation: payload, label: 'unchecked' })];
	const { container, run, selection } = shown({
		type: 'finished',
		answer: answer(text, { claims, verdicts, evidence: found, search: { ...search, note: payload } }),
	});
	selection.showClaim(run, 'c1');
	const panel = render(EvidencePanel, { selection });
	for (const root of [container, panel.container]) {
		expect(
			root.querySelector('img, script, iframe, [onload], [onerror], a[href^="javascript"], a[href^="data"]'),
		).toBeNull();
		expect(root.textContent).toContain(payload);
	}
});

test('FR-134: a tag put together from two harmless tokens stays text', () => {
	const { tokens } = JSON.parse(readFileSync('tests/inputs/FR-134-tokens.json', 'utf8')) as { tokens: string[] };
	const { container } = shown(...tokens.map((delta) => ({ type: 'text', delta })));
	expect(container.querySelector('img')).toBeNull();
	expect(container.textContent).toContain(tokens.join(''));
});

test('FR-128: a text with U+2028, U+0085 and a line break is shown whole', () => {
	const { tokens } = JSON.parse(readFileSync('tests/inputs/FR-128-tokens.json', 'utf8')) as { tokens: string[] };
	const { container } = shown(...tokens.map((delta) => ({ type: 'text', delta })));
	const paragraphs = [...container.querySelectorAll('.answer p')].map((p) => p.textContent?.trim());
	expect(paragraphs.join('\n')).toBe(tokens.join(''));
});

test('every sentence carries its verdict as a word, and what could not be decided is not hidden', () => {
	const text = 'Death fell [1]. Nothing else.';
	const claims = [claim('c1', 'Death fell [1].', text, [1]), claim('c2', 'Nothing else.', text)];
	shown({
		type: 'finished',
		answer: answer(text, {
			claims,
			verdicts: [verdict('c1', { label: 'contradicted' }), verdict('c2', { label: 'unchecked', citation: 'none' })],
			evidence: [evidence(1)],
			groundedness: 0,
		}),
	});
	const marks = screen.getAllByRole('button', { name: /show the evidence/ });
	expect(marks.map((mark) => mark.textContent?.trim())).toEqual(['Contradicted', 'Unchecked']);
	expect(screen.getByText('0 of 2 sentences supported; 1 of 2 could be checked')).toBeTruthy();
});

test('quotations are called so and have no groundedness', () => {
	const text = '“Death fell.” — Doe A, 2011 [1]';
	const claims = [{ ...claim('c1', text, text, [1]), is_quotation: true }];
	const { container } = shown({
		type: 'finished',
		answer: answer(text, { claims, verdicts: [verdict('c1')], evidence: [evidence(1)], mode: 'quotations' }),
	});
	expect(container.querySelector('.kind')?.textContent).toBe('Quotations: words of the sources, no summary');
	expect(screen.queryByText(/sentences? supported/)).toBeNull();
});

test('an incomplete answer says so, keeps its words and can be asked again', () => {
	const { onRetry } = shown(
		{ type: 'text', delta: 'Death ' },
		{ type: 'incomplete', reason: 'The reply was cut.', text: '', error: null },
	);
	expect(screen.getByText('This answer is incomplete')).toBeTruthy();
	expect(screen.getByText('Death')).toBeTruthy();
	screen.getByRole('button', { name: 'Ask again' }).click();
	expect(onRetry).toHaveBeenCalledOnce();
});

test('links out name their place, open apart and give nothing away', () => {
	shown({
		type: 'finished',
		answer: answer('Death fell [1].', { evidence: [evidence(1)] }),
	});
	const links = screen.getAllByRole('link');
	expect(links.map((link) => link.getAttribute('href'))).toEqual([
		'https://pubmed.ncbi.nlm.nih.gov/101/',
		'https://doi.org/10.1/x',
		'https://pmc.ncbi.nlm.nih.gov/articles/PMC1/',
	]);
	expect(
		links.every(
			(link) => link.getAttribute('rel') === 'noopener noreferrer' && link.getAttribute('target') === '_blank',
		),
	).toBe(true);
});
