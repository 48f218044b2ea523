// An answer on the clipboard says no more than the one on the screen, and no less.
import { expect, test } from 'vitest';
import { copiedAnswer } from '../src/lib/copying';
import { sourceLine } from '../src/lib/references';
import { Run } from '../src/state/run.svelte';
import { answer, claim, evidence, record, verdict } from './examples';

function run(...messages: object[]): Run {
	const made = new Run('/api/ask', {});
	for (const message of messages) made.apply(message as never);
	return made;
}

const text = 'Death fell [1, 2]. It is <cheap> [3].';
const found = [evidence(1), evidence(2), evidence(3, { pmid: '7', status: 'retracted', status_text: 'Retracted' }), evidence(4, { pmid: '9' })];
const claims = [claim('c1', 'Death fell [1, 2].', text, [1, 2]), claim('c2', 'It is <cheap> [3].', text, [3])];
const verdicts = [verdict('c1'), verdict('c2', { label: 'contradicted' })];
const finished = { type: 'finished', answer: answer(text, { claims, verdicts, evidence: found, mode: 'generated' }) };

test('the references have the numbers of the screen, PMIDs and links; what was only read is left out', () => {
	const copied = copiedAnswer('Does it help?', run(finished));
	expect(copied.text.split('\n')).toEqual([
		'Does it help?',
		'',
		text,
		'',
		'Checked by medcite: 1 of 2 sentences supported; 2 of 2 could be checked.',
		'Contradicted: “It is <cheap> [3].”',
		'',
		'References',
		'[1] [2] Doe A, Roe B. A trial of 𝛽-blockers. Lancet. 2011 Mar; 377(9770):1011-8. PMID: 101. https://pubmed.ncbi.nlm.nih.gov/101/ https://doi.org/10.1/x',
		'[3] Doe A, Roe B. A trial of 𝛽-blockers. Lancet. 2011 Mar; 377(9770):1011-8. [Retracted] PMID: 7. https://pubmed.ncbi.nlm.nih.gov/101/ https://doi.org/10.1/x',
		'',
	]);
});

test('the formatted form holds links and no markup of the answer', () => {
	const { html } = copiedAnswer('<b>Does it help?</b>', run(finished));
	expect(html).toContain('<a href="https://pubmed.ncbi.nlm.nih.gov/101/">');
	expect(html).toContain('It is &lt;cheap&gt; [3].');
	expect(html).toContain('&lt;b&gt;Does');
});

test('a part of an answer is copied as a part, and a link that is none is left out', () => {
	const half = run(
		{ type: 'evidence', evidence: [evidence(1, { doi_url: 'javascript:alert(1)' })], search: null },
		{ type: 'text', delta: 'Death fell [1]' },
		{ type: 'incomplete', reason: 'cut', text: '', error: null },
	);
	const copied = copiedAnswer('q', half);
	expect(copied.text).toContain('This answer is incomplete.');
	expect(copied.text + copied.html).not.toContain('javascript');
});

test("an abbreviation's own full stop is not doubled", () => {
	expect(sourceLine(record({ journal_abbreviation: 'J. Clin. Oncol.' }))).toBe('J. Clin. Oncol. 2011 Mar; 377(9770):1011-8');
});
