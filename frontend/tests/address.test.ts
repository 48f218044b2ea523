// The filter in the address: there and back again, and whatever else an address may hold.
import { expect, test } from 'vitest';
import { withParameters } from '../src/lib/address';
import { filterIn, filterParameters } from '../src/lib/filteraddress';
import { emptyForm, type FilterForm, filterProblems, toSearchFilter } from '../src/lib/filters';
import { barsInWords, barsOf, recordsWithin } from '../src/lib/histogram';
import { FilterState } from '../src/state/filters.svelte';
import { viewIn } from '../src/state/view.svelte';

const full: FilterForm = {
	yearFrom: '1998',
	yearTo: '2012',
	title: 'β-blockers & "statins" 100%',
	keywords: ['Diabetes Mellitus, Type 2', 'Asthma'],
	journal: ['Lancet (London, England)'],
	author: ['Müller Ö'],
	publication_types: ['Review'],
	languages: ['eng', 'ger'],
	has_pmcid: true,
	exclude_retracted: true,
};

test.each([true, false])('a filter comes back from its address as it was, switch %s', (isOn) => {
	const search = withParameters('?view=records&q=x', filterParameters(full, isOn));
	expect(filterIn(search)).toEqual({ form: full, isOn, notes: [] });
	expect(search).toMatch(/^\?view=records&q=x&/);
	expect(new FilterState(search).filter).toEqual(isOn ? toSearchFilter(full) : {});
});

test('an empty filter leaves no trace in the address, unless it is on', () => {
	expect(withParameters('?q=x', filterParameters(emptyForm(), false))).toBe('?q=x');
	expect(withParameters('', filterParameters(emptyForm(), true))).toBe('?filter=on');
	expect(filterIn('?filter=on')).toEqual({ form: emptyForm(), isOn: true, notes: [] });
});

test.each([
	['?year_from=banana', 'yearFrom'],
	['?year_from=1e3', 'yearFrom'],
	['?year_to=-5', 'yearTo'],
	['?year_from=2020&year_to=2010', 'yearTo'],
	[`?title=${'x'.repeat(5000)}`, 'title'],
	[`?keywords=${'k'.repeat(5000)}`, 'keywords'],
	[`?${Array.from({ length: 80 }, (_, n) => `author=a${n}`).join('&')}`, 'author'],
])('a hostile value is shown at its field and nothing is sent: %s', (search, field) => {
	const filters = new FilterState(search);
	expect(Object.keys(filterProblems(filters.form))).toEqual([field]);
	expect([filters.isOn, filters.isValid, filters.isExpanded]).toEqual([true, false, true]);
});

test.each([
	['?has_pmcid=banana', /has_pmcid=banana/],
	['?filter=maybe', /filter=maybe/],
	['?yearFrom=2010', /“yearFrom”.*“year_from”/],
	['?keyword=Asthma', /“keyword”.*“keywords”/],
	['?year_from=2010&year_from=2011', /year_from more than once.*2010/],
	[`?${Array.from({ length: 500 }, (_, n) => `keywords=k${n}`).join('&')}`, /500 values/],
])('what cannot be read is said in words: %s', (search, words) => {
	const filters = new FilterState(search);
	expect(filters.notes.join(' ')).toMatch(words);
	expect(filters.isExpanded).toBe(true);
});

test('markup, control characters and parameters of others are no matter', () => {
	const search = '?title=%3Cimg%20src%3Dx%3E%00%07&keywords=%0A&utm_source=x&view=records&%=%';
	expect(filterIn(search)).toEqual({ form: { ...emptyForm(), title: '<img src=x>' }, isOn: true, notes: [] });
});

test('an unknown view is the first one', () => {
	expect([viewIn('?view=records'), viewIn('?view=<script>'), viewIn('')]).toEqual(['records', 'answers', 'answers']);
});

test('years become bars, gaps too, and many years are put together', () => {
	const years = [
		{ year: 2001, records: 3 },
		{ year: 2004, records: 7 },
	];
	expect(barsOf(years).map(({ from, records }) => [from, records])).toEqual([
		[2001, 3],
		[2002, 0],
		[2003, 0],
		[2004, 7],
	]);
	expect(barsInWords(barsOf(years))).toBe('Records per year, 2001 to 2004: 10 in all, most in 2004 (7).');
	const long = barsOf([
		{ year: 1791, records: 1 },
		{ year: 2025, records: 2 },
	]);
	expect([long.length <= 64, long[0]?.from, long.at(-1)?.records]).toEqual([true, 1790, 2]);
	expect([barsOf([]), barsInWords([])]).toEqual([[], 'No record has a year.']);
	expect([recordsWithin(years, null, 2003), recordsWithin(years, 2002, null), recordsWithin(years, null, null)]).toEqual([3, 7, 10]);
});
