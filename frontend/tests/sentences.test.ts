import { expect, test } from 'vitest';
import type { RunMessage } from '../src/lib/events';
import { referencesOf } from '../src/lib/references';
import { sentencesOf, worstLabel } from '../src/lib/sentences';
import { Run } from '../src/state/run.svelte';
import { claim, evidence, search, verdict } from './examples';

const text = '𝛽 fell and pain rose [1]. All well.';
const sentence = { start: 0, end: 25 };
const parts = [
	{ ...claim('c1', '𝛽 fell', text, [1]), sentence },
	{ ...claim('c2', 'pain rose [1].', text, [1]), sentence },
];
const alone = claim('c3', 'All well.', text);

test('a sentence shows the worst of its claims, and a supported part does not make it supported', () => {
	expect(worstLabel(['supported', 'supported'])).toBe('supported');
	expect(worstLabel(['supported', 'conflicting', 'contradicted'])).toBe('contradicted');
	expect(worstLabel(['supported', 'conflicting'])).toBe('conflicting');
	expect(worstLabel(['supported', 'unchecked'])).toBe('partly_supported');
	expect(worstLabel(['unchecked', 'unsupported'])).toBe('unsupported');
	expect(worstLabel([])).toBeNull();
});

test('claims that share a sentence are one stretch of the text, whatever order they come in', () => {
	const [first, second] = sentencesOf(text, [alone, ...[...parts].reverse()]);
	expect(first?.whole).toMatchObject({ id: 'c1', text: '𝛽 fell and pain rose [1].', span: sentence, cited: [1] });
	expect(first?.claims.map(({ id }) => id)).toEqual(['c1', 'c2']);
	expect(second?.whole).toEqual(alone);
});

test('a sentence has no label until all of its claims are decided', () => {
	const run = new Run('/api/ask', {});
	run.text = text;
	run.claims = [...parts, alone];
	run.apply({ type: 'verdict', verdict: verdict('c1') });
	expect(run.labelOf.get('c1')).toBeUndefined();
	run.apply({ type: 'verdict', verdict: verdict('c2', { label: 'contradicted' }) });
	expect(run.labelOf.get('c1')).toBe('contradicted');
});

test('what the checker found is added, told apart, and kept, documents too', () => {
	const run = new Run('/api/verify', {});
	const documents = ['doc:a', 'doc:b'].map((document, at) => evidence(at + 2, { pmid: '', document }));
	run.apply({ type: 'run', run_id: 'r', schema_version: 1 });
	run.apply({ type: 'evidence', evidence: [evidence(1)], search });
	run.apply({ type: 'evidence_added', evidence: documents } as RunMessage);
	run.apply({ type: 'claim_step', claim_id: 'c1', step: 'judge' } as RunMessage);
	expect(run.evidence.map(({ number }) => number)).toEqual([1, 2, 3]);
	expect([...run.added]).toEqual([2, 3]);
	expect(referencesOf(run.evidence, new Set())).toHaveLength(3);
	run.stop();
	const again = new Run('/api/verify', {});
	again.restore(JSON.parse(JSON.stringify(run.toStored())));
	expect(again.evidence).toEqual(run.evidence);
	expect([...again.added]).toEqual([2, 3]);
});
