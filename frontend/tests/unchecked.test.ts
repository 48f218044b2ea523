import { expect, test } from 'vitest';
import { whyUnchecked } from '../src/lib/verdicts';
import { verdict } from './examples';

test('an unchecked sentence says why in words, and a verdict that was reached says nothing', () => {
	const open = verdict('c1', { label: 'unchecked', reason: 'no_judge_for_paraphrase' });
	expect(whyUnchecked(open)).toContain('in other words');
	expect(whyUnchecked({ ...open, label: 'supported' })).toBe('');
	expect(whyUnchecked({ ...open, reason: 'a_new_code' })).toBe('');
});
