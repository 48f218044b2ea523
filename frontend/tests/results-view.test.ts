// @vitest-environment jsdom
// The records view and its state, over a service that answers from a list.
import { readFileSync } from 'node:fs';
import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import ResultsView from '../src/components/results/ResultsView.svelte';
import type { SearchFilter } from '../src/lib/filters';
import type { Hit } from '../src/lib/results';
import { CorpusWatch } from '../src/state/corpus.svelte';
import { FilterState } from '../src/state/filters.svelte';
import { Marks, ResultList } from '../src/state/results.svelte';
import { record, search } from './examples';

interface Sent {
	query: string;
	sort: string;
	descending: boolean;
	filters: SearchFilter;
	offset: number;
	limit: number;
}
let total: number;
let hits: (at: number) => Hit;
let sent: Sent[];

beforeEach(() => {
	total = 45;
	hits = (at) => ({ record: record({ pmid: String(at + 1) }), matches: [], snippet: null });
	sent = [];
	history.replaceState(null, '', '/?view=records');
	localStorage.clear();
	Element.prototype.scrollIntoView = () => undefined;
	Element.prototype.scrollTo = () => undefined;
	vi.stubGlobal('fetch', async (_path: string, init: RequestInit) => {
		const body = JSON.parse(init.body as string) as Sent;
		sent.push(body);
		const { offset, limit } = body;
		const count = Math.max(0, Math.min(limit, total - offset));
		const records = Array.from({ length: count }, (_, i) => hits(offset + i));
		return Response.json({ total, records, search: { ...search, query: body.query } });
	});
});
afterEach(cleanup);

const pmids = (list: ResultList) => list.hits.map((hit) => hit.record.pmid);

test('every record is had by going through the pages, and the address names the page', async () => {
	const list = new ResultList();
	list.ask({ query: 'asthma' });
	const seen: string[] = [];
	for (let page = 1; page === 1 || page <= list.pages; page++) {
		if (page > 1) list.ask({ page });
		await list.load({});
		seen.push(...pmids(list));
	}
	expect(new Set(seen).size).toBe(list.total);
	expect(location.search).toBe('?view=records&q=asthma&page=3');
	expect(new ResultList().request).toEqual(list.request);
});

test('another filter or order starts at the first page, and a page beyond the end becomes the last one', async () => {
	history.replaceState(null, '', '/?q=asthma&page=9');
	const list = new ResultList();
	await list.load({});
	await list.load({});
	expect([list.request.page, pmids(list).length]).toEqual([3, 5]);
	await list.load({ year_from: 2000 });
	expect([list.request.page, sent.at(-1)?.offset]).toEqual([1, 0]);
	list.ask({ page: 2 });
	list.ask({ order: 'newest' });
	expect(list.request.page).toBe(1);
});

test('without words and filter every record is listed, the newest first', async () => {
	const list = new ResultList();
	await list.load({});
	expect(sent.map(({ query, sort, descending }) => [query, sort, descending])).toEqual([['', 'date', true]]);
	expect([list.countLine, list.hits.length]).toEqual(['All 45 records', 20]);
	await list.load({ year_from: 2000 });
	expect(list.countLine).toBe('45 records pass the filter');
});

test('what is being fetched already is not asked for twice', async () => {
	const list = new ResultList();
	list.ask({ query: 'asthma' });
	const first = list.load({});
	list.ask({ query: 'asthma' });
	await Promise.all([list.load({}), first]);
	expect(sent).toHaveLength(1);
	list.ask({ query: 'asthma' });
	await list.load({});
	expect(sent).toHaveLength(2);
});

test('a late answer to an earlier question is not shown', async () => {
	const list = new ResultList();
	list.ask({ query: 'first' });
	const first = list.load({});
	total = 3;
	list.ask({ query: 'second' });
	await Promise.all([list.load({}), first]);
	expect([list.total, list.shown?.request.query]).toEqual([3, 'second']);
});

test('the next record is on the next page, and the ends are said', async () => {
	const list = new ResultList();
	list.ask({ query: 'asthma' });
	await list.load({});
	list.step(-1, 0);
	expect([list.openAt, list.spoken]).toEqual([-1, 'This is the first record.']);
	for (let i = 0; i < 20; i++) list.step(1);
	expect(list.open?.record.pmid).toBe('20');
	list.step(1);
	await list.load({});
	expect([list.request.page, list.open?.record.pmid]).toEqual([2, '21']);
	list.step(-1);
	await list.load({});
	expect(list.open?.record.pmid).toBe('20');
});

test('marks are kept over reloads and follow other windows; what is stored wrongly is no mark', () => {
	const marks = new Marks();
	marks.set(['5', '3'], true);
	marks.set(['5'], false);
	expect(new Marks().pmids).toEqual(['3']);
	const stop = marks.watch();
	localStorage.setItem('medcite-marks', '["8", 9, "3"]');
	dispatchEvent(new StorageEvent('storage', { key: 'medcite-marks' }));
	expect(marks.pmids).toEqual(['8', '3']);
	stop();
	localStorage.setItem('medcite-marks', '{');
	expect(new Marks().count).toBe(0);
});

function view(address: string) {
	history.replaceState(null, '', address);
	const filters = new FilterState();
	return { ...render(ResultsView, { watch: new CorpusWatch(), filters }), filters };
}

test('marks and the record in view survive the keys; letters typed into the search box are letters', async () => {
	view('/?view=records&q=asthma');
	await waitFor(() => expect(screen.getByText('45 records match')).toBeTruthy());
	await fireEvent.keyDown(screen.getByRole('searchbox'), { key: 'j' });
	expect(document.querySelector('#record-panel')).toBeNull();
	const titles = document.querySelectorAll<HTMLElement>('li .title');
	titles[0]?.focus();
	await fireEvent.keyDown(titles[0] as HTMLElement, { key: 'j' });
	await waitFor(() => expect(document.querySelector('#record-heading')?.textContent).toContain('Record 2 of 45'));
	await fireEvent.keyDown(document.activeElement as HTMLElement, { key: 'x' });
	expect(new Marks().pmids).toEqual(['2']);
	await fireEvent.keyDown(document.activeElement as HTMLElement, { key: 'Escape' });
	await waitFor(() => expect(document.activeElement).toBe(titles[1]));
});

test('a list without records says why, and names the filter', async () => {
	total = 0;
	const { filters } = view('/?view=records&q=zzz');
	await waitFor(() => expect(screen.getByText(/No record has words\s+of “zzz”/)).toBeTruthy());
	filters.toggle();
	filters.form.keywords = ['Humans'];
	await waitFor(() => expect(screen.getByText(/passes the filter \(keywords “Humans”\)/)).toBeTruthy());
	await fireEvent.click(screen.getByRole('button', { name: 'Search without the filter' }));
	await waitFor(() => expect(sent.at(-1)?.filters).toEqual({}));
});

test('an error is shown in words with its request id, and can be tried again', async () => {
	const answers = globalThis.fetch;
	const error = { code: 'x', message: 'the index cannot be read', hint: 'Run medcite doctor.', request_id: 'r-77' };
	vi.stubGlobal('fetch', async () => Response.json({ error }, { status: 503 }));
	view('/?view=records&q=asthma');
	await waitFor(() => expect(screen.getByText('r-77')).toBeTruthy());
	expect(screen.getByText('The index cannot be read.')).toBeTruthy();
	vi.stubGlobal('fetch', answers);
	await fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
	await waitFor(() => expect(screen.getByText('45 records match')).toBeTruthy());
});

const payloads = readFileSync('tests/inputs/FR-133-payloads.txt', 'utf8').split('\n').filter(Boolean);

test.each(payloads)('FR-133: %s in a record of the list stays text', async (payload) => {
	total = 1;
	const length = [...payload].length;
	hits = () => ({
		record: record({
			title: payload,
			text: `${payload}\n\n${payload}`,
			sections: [
				{ kind: 'title', label: '', span: { start: 0, end: length } },
				{ kind: 'abstract', label: payload, span: { start: length + 2, end: 2 * length + 2 } },
			],
			journal_abbreviation: payload,
			authors_short: payload,
			publication_types: [payload],
			status: 'retracted',
			status_text: payload,
		}),
		matches: [{ start: 0, end: 3 }],
		snippet: { start: length + 2, end: 2 * length + 2 },
	});
	const { container } = view(`/?view=records&q=${encodeURIComponent(payload)}`);
	await waitFor(() => expect(screen.getByText('1 record matches')).toBeTruthy());
	await fireEvent.click(container.querySelector('li .title') as HTMLElement);
	await waitFor(() => expect(container.querySelector('#record-panel')?.textContent).toContain(payload));
	expect(container.querySelector('img, script, iframe, [onload], [onerror], a[href^="javascript"]')).toBeNull();
	expect(container.querySelector('.snippet')?.textContent).toContain(payload);
});
