// What a check is asked, and what stands in its way, in words.
import { expect, test } from 'vitest';
import { againstLine, bodyOf, claimsIn, emptyInput, limits, pmidsIn, problemOf, readSource } from '../src/lib/checking';
import { viewIn } from '../src/state/view.svelte';

const input = (change: object) => ({ ...emptyInput(), text: 'Zetamab works.', ...change });

test('PMIDs are taken as people list them, and what is none is named', () => {
	expect(pmidsIn('PMID: 12, 34;\n12 PMID:56')).toEqual({ pmids: ['12', '34', '56'], others: [] });
	expect(problemOf(input({ against: 'records', pmids: '12, PMC34' }))).toContain('“PMC34” is no PMID');
	expect(problemOf(input({ against: 'records' }))).toContain('at least one PMID');
});

test('the request holds claims line by line, and only texts with words in them', () => {
	expect(claimsIn('One.\n\n  Two. \n')).toEqual(['One.', 'Two.']);
	const body = bodyOf(
		input({ kind: 'claims', text: 'One.\nTwo.', against: 'texts', sources: [{ name: '', text: 'Words.' }, { name: 'b', text: ' ' }] }),
	);
	expect(body).toEqual({ claims: ['One.', 'Two.'], question: '', sources: [{ name: 'Text 1', text: 'Words.' }] });
	expect(againstLine(body)).toBe('Checked against “Text 1”');
	expect(againstLine(bodyOf(input({})))).toBe('Checked against the corpus');
});

test('what is too much is said before it is sent', () => {
	expect(problemOf(input({}))).toBe('');
	expect(problemOf(input({ text: ' ' }))).toBe('Paste the text to check.');
	expect(problemOf(input({ text: '𝛽'.repeat(limits.textChars) }))).toBe('');
	expect(problemOf(input({ text: 'x'.repeat(limits.textChars + 1) }))).toContain('20,001 characters');
	expect(problemOf(input({ kind: 'claims', text: 'x\n'.repeat(201) }))).toContain('201 claims');
	expect(problemOf(input({ against: 'texts' }))).toContain('Add a text');
	const large = [0, 1, 2].map((n) => ({ name: `${n}`, text: 'x'.repeat(400_000) }));
	expect(problemOf(input({ against: 'texts', sources: large }))).toContain('too large for the page');
});

test('a file that cannot be read says why', async () => {
	expect(await readSource(new File(['# Words'], 'a.md'))).toEqual({ name: 'a.md', text: '# Words' });
	await expect(readSource(new File(['x'], 'paper.pdf'))).rejects.toThrow('paper.pdf is not read here');
	await expect(readSource(new File([new Uint8Array([0xff, 0xfe, 0x41])], 'a.txt'))).rejects.toThrow('not UTF-8');
	await expect(readSource(new File([' \n'], 'a.txt'))).rejects.toThrow('is empty');
});

test('the check has an address of its own', () => {
	expect([viewIn('?view=check'), viewIn('?view=records'), viewIn('?view=other')]).toEqual(['check', 'records', 'answers']);
});
