import { expect, test } from 'vitest';
import { addTyped, addValue, emptyForm, type FilterForm, filterProblems, toSearchFilter } from '../src/lib/filters';
import { authorsSentence, referencesOf, sourceLine } from '../src/lib/references';
import {
	asSentence,
	countVerdicts,
	filterWords,
	finishedAnnouncement,
	groundednessLine,
	passedByWords,
	searchLine,
	stageText,
} from '../src/lib/verdicts';
import { answer, claim, evidence, record, search, verdict } from './examples';

test('references are records: one entry a PMID with all its numbers, cited ones first', () => {
	const found = [evidence(3), evidence(1, { pmid: '7' }), evidence(2), evidence(4, { pmid: '9' })];
	const references = referencesOf(found, new Set([3, 4]));
	expect(references.map((r) => [r.record.pmid, r.numbers, r.isCited])).toEqual([
		['101', [2, 3], true],
		['9', [4], true],
		['7', [1], false],
	]);
});

test('a source line leaves out what is not known', () => {
	expect(sourceLine(record())).toBe('Lancet. 2011 Mar; 377(9770):1011-8');
	expect(sourceLine(record({ volume: '', issue: '', pages: '' }))).toBe('Lancet. 2011 Mar');
	expect(sourceLine(record({ date: '2018-11-01', date_display: '2018 11 01', volume: '', pages: '', issue: '' }))).toBe(
		'Lancet. 2018-11-01',
	);
	expect(authorsSentence(record({ authors_short: 'Doe A et al.' }))).toBe('Doe A et al.');
	expect(authorsSentence(record())).toBe('Doe A, Roe B.');
});

test('groundedness is counted over all sentences, and what could be checked stands beside it', () => {
	const claims = ['a', 'b', 'c'].map((id) => claim(id, '', ''));
	const verdicts = [verdict('a'), verdict('b', { label: 'contradicted' }), verdict('c', { label: 'unchecked' })];
	expect(groundednessLine(countVerdicts(claims, verdicts))).toBe('1 of 3 sentences supported; 2 of 3 could be checked');
});

test('what is said aloud at the end counts every verdict', () => {
	const claims = ['a', 'b', 'c'].map((id) => claim(id, '', ''));
	const verdicts = [verdict('a'), verdict('b', { label: 'contradicted' }), verdict('c')];
	expect(finishedAnnouncement(answer('x', { claims, verdicts }))).toBe(
		'Answer finished and checked: 2 supported, 1 contradicted.',
	);
	expect(finishedAnnouncement(answer('x', { claims, verdicts, mode: 'quotations' }))).toBe(
		'Answer finished. It consists of 3 quotations.',
	);
	expect(finishedAnnouncement(answer('x', { outcome: 'nothing_relevant' }))).toContain('nothing relevant');
});

test('the search line names mode, filter and how much passed', () => {
	expect(searchLine(search)).toBe('By words and meaning · no filter · 1,302 of 1,302 records');
	expect(searchLine({ ...search, query: '' })).toBe('No words searched for · no filter · 1,302 of 1,302 records');
	expect(
		searchLine({
			...search,
			mode: 'lexical',
			passed: 12,
			applied_filter: {
				year_from: 2010,
				year_to: 2020,
				title: 'statin',
				keywords: ['Asthma', 'COPD'],
				has_pmcid: true,
			},
		}),
	).toBe(
		'By words alone · years 2010 to 2020, title “statin”, keywords “Asthma” or “COPD”, free full text · 12 of 1,302 records passed',
	);
	expect(filterWords({ year_from: 2010 })).toBe('from 2010');
	expect(filterWords({ year_to: 2010 })).toBe('until 2010');
});

test('a stage that the page does not know yet is shown by its name', () => {
	expect(stageText('rerank', 1, 3)).toBe('rerank (1 of 3)');
	expect(stageText('write')).toBe('Writing the answer');
});

const form = (overrides: Partial<FilterForm>): FilterForm => ({ ...emptyForm(), ...overrides });

test('only what filters is sent', () => {
	expect(toSearchFilter(form({}))).toEqual({});
	expect(toSearchFilter(form({ yearFrom: ' 2010 ', title: ' statin ', keywords: ['Asthma'] }))).toEqual({
		year_from: 2010,
		title: 'statin',
		keywords: ['Asthma'],
	});
});

test.each([
	[{ yearFrom: '99' }, 'yearFrom'],
	[{ yearTo: '20x0' }, 'yearTo'],
	[{ yearFrom: '1200' }, 'yearFrom'],
	[{ yearFrom: '2020', yearTo: '2010' }, 'yearTo'],
	[{ title: 'x'.repeat(301) }, 'title'],
	[{ keywords: Array.from({ length: 51 }, (_, i) => `k${i}`) }, 'keywords'],
] as [Partial<FilterForm>, string][])('the form %j has its problem named at %s', (overrides, field) => {
	expect(Object.keys(filterProblems(form(overrides)))).toEqual([field]);
});

test('a sound form has no problem', () => {
	expect(filterProblems(form({ yearFrom: '2010', yearTo: '2010', title: 'x', keywords: ['a'] }))).toEqual({});
});

test('keywords are parted by commas, once each; names and journals keep theirs', () => {
	expect(addTyped(['Asthma'], ' asthma, COPD ;  Heart   Failure,, ', 'keywords')).toEqual(['Asthma', 'COPD', 'Heart Failure']);
	expect(addTyped([], 'Lancet (London, England); BMJ', 'journal')).toEqual(['Lancet (London, England)', 'BMJ']);
	expect(addValue(['Asthma'], ' ASTHMA ')).toEqual(['Asthma']);
});

test('a heading of the corpus that has a comma stays whole', () => {
	const known = ['Diabetes Mellitus, Type 1', 'Diabetes Mellitus, Type 2'];
	expect(addTyped([], 'diabetes mellitus, type 2', 'keywords', known)).toEqual(['Diabetes Mellitus, Type 2']);
	expect(addTyped([], 'stroke, asthma', 'keywords', known)).toEqual(['stroke', 'asthma']);
});

test('how many records pass each part of a filter is said when there are several parts', () => {
	expect(passedByWords({ ...search, passed_by: { years: 12 } })).toBe('');
	expect(passedByWords({ ...search, passed_by: { years: 1200, publication_types: 3, has_pmcid: 4 } })).toBe(
		'Each by itself: years 1,200, publication type 3, free full text 4',
	);
});

test("the service's messages are shown as sentences", () => {
	expect(asSentence('the model server failed (HTTP 500)')).toBe('The model server failed (HTTP 500).');
	expect(asSentence('medcite does not answer to this host')).toBe('medcite does not answer to this host.');
	expect(asSentence('')).toBe('');
});
