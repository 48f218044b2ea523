// @vitest-environment jsdom
import { afterEach, expect, test, vi } from 'vitest';
import { ResultList } from '../src/state/results.svelte';
import { search } from './examples';

afterEach(() => vi.unstubAllGlobals());

test('later pages keep to the order of the first one; another search begins its own', async () => {
	const sent: Record<string, unknown>[] = [];
	let mode = 'lexical';
	vi.stubGlobal('fetch', async (_: string, init: RequestInit) => {
		sent.push(JSON.parse(init.body as string));
		return new Response(JSON.stringify({ total: 90, records: [{}], search: { ...search, mode } }));
	});
	const list = new ResultList();
	list.ask({ query: 'asthma' });
	await list.load({});
	mode = 'hybrid';
	list.ask({ page: 2 });
	await list.load({});
	list.ask({ page: 3 });
	await list.load({});
	list.ask({ query: 'stroke' });
	await list.load({});
	list.ask({ page: 2 });
	await list.load({});
	expect(sent.map((body) => body.mode)).toEqual([undefined, 'lexical', 'lexical', undefined, 'hybrid']);
});
