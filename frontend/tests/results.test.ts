// The list of all hits: what is asked, what is marked in the words, and what an export says of itself.
import { expect, test, vi } from 'vitest';
import { ApiError } from '../src/lib/api';
import { CodePointText } from '../src/lib/codepoints';
import {
	exportLine,
	fetchCitation,
	fetchExport,
	fetchResults,
	kindsOf,
	missingIn,
	pageCount,
	pagesOffered,
	parametersOf,
	piecesOf,
	requestIn,
	wordsOf,
} from '../src/lib/results';
import { record } from './examples';

function answering(body: unknown, init: ResponseInit = {}) {
	const fetched = vi.fn(
		async (_path: string, _init?: RequestInit) =>
			new Response(typeof body === 'string' ? body : JSON.stringify(body), init),
	);
	vi.stubGlobal('fetch', fetched);
	return () => fetched.mock.calls.map(([path, sent]) => [path, sent?.body ? JSON.parse(sent.body as string) : null]);
}

test('the address holds the request, and what it holds wrongly is as on a fresh page', () => {
	const request = { query: 'heart & “lung” 100%', order: 'journal-down', page: 7 } as const;
	const search = new URLSearchParams(Object.entries(parametersOf(request)).map(([key, value]) => [key, value ?? '']));
	expect(requestIn(`?${search}&view=records`)).toEqual(request);
	const fresh = { query: '', order: 'relevance', page: 1 };
	for (const wrong of ['', '?sort=toString&page=0', '?page=-1', '?page=1e9&sort=', '?page=99999999999', '?q=+']) {
		expect(requestIn(wrong)).toEqual(fresh);
	}
	expect(Object.values(parametersOf(requestIn('')))).toEqual([null, null, null]);
});

test('the pages offered lead to both ends and to the neighbours', () => {
	expect(pagesOffered(1, 1)).toEqual([1]);
	expect(pagesOffered(1, 21)).toEqual([1, 2, null, 21]);
	expect(pagesOffered(10, 21)).toEqual([1, null, 9, 10, 11, null, 21]);
	expect(pagesOffered(4, 6)).toEqual([1, 2, 3, 4, 5, 6]);
	expect([pageCount(0), pageCount(20), pageCount(21), pageCount(412)]).toEqual([1, 1, 2, 21]);
});

test('matches are counted in code points, and the pieces add up to the words', () => {
	const of = record();
	const points = new CodePointText(of.text);
	const all = { start: 0, end: points.length };
	const marked = (matches: { start: number; end: number }[], span = all) =>
		piecesOf(points, span, matches).flatMap((piece) => (piece.isMatch ? piece.text : []));
	// The astral 𝛽 is the eleventh character, but takes two units of JavaScript's.
	expect(
		marked([
			{ start: 11, end: 12 },
			{ start: 13, end: 21 },
		]),
	).toEqual(['𝛽', 'blockers']);
	for (const matches of [
		[],
		[
			{ start: 40, end: 45 },
			{ start: 3, end: 9 },
			{ start: 42, end: 50 },
			{ start: 3, end: 9 },
		],
		[{ start: 0, end: 500 }],
	]) {
		for (const span of [all, { start: 32, end: 58 }]) {
			const pieces = piecesOf(points, span, matches);
			expect(pieces.map((piece) => piece.text).join('')).toBe(points.slice(span));
		}
	}
	const cut = [
		{ start: 0, end: 37 },
		{ start: 54, end: 70 },
	];
	expect(marked(cut, { start: 32, end: 58 })).toEqual(['Death', ' 12%']);
});

test('a snippet says where it was cut, and is left out when it is the title', () => {
	const hit = { record: record(), matches: [{ start: 2, end: 7 }], snippet: { start: 32, end: 58 } };
	const words = wordsOf(hit);
	expect(words.title.map((piece) => [piece.text, piece.isMatch])).toEqual([
		['A ', false],
		['trial', true],
		[' of 𝛽-blockers', false],
	]);
	expect(words.snippet.map((piece) => piece.text).join('')).toBe('Death fell from 18% to 12%');
	expect([words.isCutBefore, words.isCutAfter]).toEqual([false, true]);
	expect(wordsOf({ ...hit, snippet: { start: 0, end: 21 } }).snippet).toEqual([]);
	expect(wordsOf({ ...hit, snippet: null }).snippet).toEqual([]);
});

test('kinds of publication that say nothing, or that the status says, are left out', () => {
	const publication_types = [
		'Journal Article',
		'Randomized Controlled Trial',
		'Research Support, N.I.H.',
		'Retracted Publication',
	];
	expect(kindsOf(record({ publication_types }))).toEqual(['Randomized Controlled Trial']);
});

test('a page of the list is asked for by its place, with its order', async () => {
	const calls = answering({ total: 0, records: [], search: {} });
	await fetchResults({ query: 'asthma', order: 'oldest', page: 3 }, { year_from: 2000 });
	expect(calls()).toEqual([
		[
			'/api/results',
			{ query: 'asthma', filters: { year_from: 2000 }, sort: 'date', descending: false, offset: 40, limit: 20 },
		],
	]);
});

test('an export sends the marks or the request, and reads what the service counted', async () => {
	const headers = {
		'Content-Disposition': 'attachment; filename="medcite-412.bib"',
		'X-Medcite-Asked': '3',
		'X-Medcite-Exported': '2',
		'X-Medcite-Missing': '103',
	};
	let calls = answering('@article{a}', { headers });
	const exported = await fetchExport('bibtex', { pmids: ['101', '102', '103'] });
	expect(calls()).toEqual([['/api/export', { format: 'bibtex', pmids: ['101', '102', '103'] }]]);
	expect(await exported.file.text()).toBe('@article{a}');
	expect(exported).toMatchObject({ name: 'medcite-412.bib', asked: 3, exported: 2, missing: ['103'] });
	calls = answering('', {});
	const request = { query: 'asthma', order: 'newest', page: 2 } as const;
	expect((await fetchExport('ris', { request, filters: {} })).name).toBe('medcite.ris');
	expect(calls()[0]?.[1]).toEqual({ format: 'ris', query: 'asthma', filters: {}, sort: 'date', descending: true });
});

test('an export that is not whole says so, and so does one that was not counted', () => {
	const whole = { file: new Blob(), name: 'medcite.ris', asked: 1412, exported: 1412, missing: [] };
	expect(exportLine(whole, 1412)).toEqual({ text: '1,412 of 1,412 exported to medcite.ris.', isWhole: true });
	expect(exportLine({ ...whole, exported: 1411, missing: ['7'] }, 1412)).toEqual({
		text: '1,411 of 1,412 exported to medcite.ris. Not in the corpus: PMID 7.',
		isWhole: false,
	});
	expect(exportLine(whole, 1400)).toMatchObject({
		isWhole: false,
		text: expect.stringContaining('This page showed 1,400'),
	});
	expect(exportLine({ ...whole, exported: null }, 1412)).toMatchObject({
		isWhole: false,
		text: expect.stringContaining('did not say'),
	});
});

test('the PMIDs that an error names as missing are those, and not the counts beside them', () => {
	const message = '2 of 22 records are not in this corpus: PMID 777, 88';
	expect(missingIn(message)).toEqual(['777', '88']);
	expect(missingIn(message.replace('2 of', '12 of').replace('88', '88 and 10 more'))).toEqual(['777', '88']);
	expect(missingIn('12,000 records are too many for one file')).toEqual([]);
});

test('errors come in the words of the service', async () => {
	const error = {
		code: 'unknown_pmids',
		message: 'no record 9',
		hint: 'Clear it.',
		retryable: false,
		request_id: 'r1',
	};
	answering({ error }, { status: 404 });
	await expect(fetchExport('ris', { pmids: ['9'] })).rejects.toMatchObject({ details: error });
	await expect(fetchCitation('9', 'apa')).rejects.toBeInstanceOf(ApiError);
	const calls = answering({ style: 'apa', text: 'Doe, A. (2011).' });
	expect(await fetchCitation('9/x', 'apa')).toBe('Doe, A. (2011).');
	expect(calls()[0]?.[0]).toBe('/api/records/9%2Fx/citation?style=apa');
});
