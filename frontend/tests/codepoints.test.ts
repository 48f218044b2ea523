import { expect, test } from 'vitest';
import { CodePointText, codePointLength } from '../src/lib/codepoints';

const samples = ['plain', 'β µg → é', '𝛽-blockers cut 🫀 risk by 𝟐𝟎%', '👩‍⚕️a\u0301𝛼', ''];

test.each(samples)('every span of %j cuts the same words as code points do', (text) => {
	const points = [...text];
	const converted = new CodePointText(text);
	expect(converted.length).toBe(points.length);
	for (let start = 0; start <= points.length; start++) {
		for (let end = start; end <= points.length; end++) {
			expect(converted.slice({ start, end })).toBe(points.slice(start, end).join(''));
		}
	}
});

test('places outside the text are its ends', () => {
	expect(new CodePointText('𝛽x').slice({ start: -1, end: 9 })).toBe('𝛽x');
	expect(new CodePointText('ab').slice({ start: 1, end: 9 })).toBe('b');
});

test('length counts what the service counts', () => {
	expect(codePointLength('𝛽𝛽')).toBe(2);
});
