import { afterEach, expect, test, vi } from 'vitest';
import { announcement } from '../src/lib/announce';
import { Conversation, historyOf } from '../src/state/conversation.svelte';
import { CorpusWatch } from '../src/state/corpus.svelte';
import { FilterState } from '../src/state/filters.svelte';
import { Run } from '../src/state/run.svelte';
import { Selection } from '../src/state/selection.svelte';
import { answer, claim, evidence, search, sent, streamed, verdict } from './examples';

const text = 'Death fell [1]. Nothing else [2].';
const claims = [claim('c1', 'Death fell [1].', text, [1]), claim('c2', 'Nothing else [2].', text, [2])];
const proof = {
	kind: 'quote' as const,
	pmid: '101',
	span: { start: 32, end: 42 },
	text: 'Death fell',
	section: '',
	shows: 'supports',
	evidence_number: 1,
	document: '',
	page: null,
	alignment: 'verbatim' as const,
	difference: '',
	computation: null,
	scan: null,
};
const verdicts = [verdict('c1', { proofs: [proof] }), verdict('c2', { label: 'unchecked' })];
const found = [evidence(1), evidence(2, { pmid: '7' })];
const finished = {
	type: 'finished',
	outcome: 'answered',
	answer: answer(text, { claims, verdicts, evidence: found, groundedness: 0.5 }),
};
const opening = sent(1, { type: 'run', run_id: 'r1' });
const delta = (id: number, words: string) => sent(id, { type: 'text', delta: words });
const quick = { resumeWaitsMs: [0, 0, 0] };

function serve(...responses: (Response | Error)[]) {
	const calls: Request[] = [];
	vi.stubGlobal('fetch', async (path: string, init?: RequestInit) => {
		calls.push(new Request(new URL(path, 'http://127.0.0.1'), { ...init, signal: undefined }));
		const next = responses.shift();
		if (!next || next instanceof Error) throw next ?? new TypeError('no more answers');
		return next;
	});
	return calls;
}
afterEach(() => vi.unstubAllGlobals());

test('a run grows with its events and ends finished', async () => {
	serve(
		streamed([
			opening,
			sent(2, { type: 'evidence', evidence: found, search }),
			delta(3, 'Death fell [1]. '),
			delta(4, 'Nothing else [2].'),
			sent(5, { type: 'claim', claim: claims[0] }),
			sent(6, { type: 'something_new' }),
			sent(7, finished),
		]),
	);
	const run = new Run('/api/ask', {});
	await run.follow();
	expect(run.state).toBe('finished');
	expect(run.text).toBe(text);
	expect(run.verdictOf.get('c2')?.label).toBe('unchecked');
	expect(announcement(run)).toBe('Answer finished and checked: 1 supported, 1 unchecked.');
});

test('a dropped connection is taken up after the last event, and repeated events count once', async () => {
	const calls = serve(
		streamed([opening, delta(2, 'Death '), delta(3, 'fell'), 'id: 4\nevent: text\nda'], 'break'),
		new TypeError('still down'),
		new Response('', { status: 502 }),
		streamed([delta(3, 'fell'), delta(4, ' [1].'), sent(5, { ...finished, answer: answer('Death fell [1].') })]),
	);
	const seen: string[] = [];
	const run = new Run('/api/ask', {});
	const { apply } = run;
	run.apply = (message) => {
		apply.call(run, message);
		if (message.type === 'text') seen.push(run.text);
	};
	await run.follow(quick);
	expect(seen).toEqual(['Death ', 'Death fell', 'Death fell [1].']);
	expect(run.state).toBe('finished');
	expect(calls.slice(1).map((call) => [call.url, call.headers.get('last-event-id')])).toEqual(
		Array(3).fill(['http://127.0.0.1/api/runs/r1/events', '3']),
	);
});

test.each([true, false])('a connection that breaks before the first event is taken up by the run id of the reply (cleanly cut: %s)', async (isClean) => {
	const headers = { 'content-type': 'text/event-stream', 'x-run-id': 'r1' };
	const body = new ReadableStream({
		pull: (c) => (isClean ? c.close() : c.error(new TypeError('reset'))),
	});
	const calls = serve(new Response(body, { headers }), streamed([opening, delta(2, 'Death '), sent(3, finished)]));
	const run = new Run('/api/ask', {});
	await run.follow(quick);
	expect([run.state, run.error]).toEqual(['finished', null]);
	expect(calls.map((call) => [call.method, call.url, call.headers.get('last-event-id')])).toEqual([
		['POST', 'http://127.0.0.1/api/ask', null],
		['GET', 'http://127.0.0.1/api/runs/r1/events', null],
	]);
});

test('FR-125: a stream that stays cut is incomplete, keeps its words and never enters the history', async () => {
	serve(streamed([opening, delta(2, 'Death ')]), new Response('', { status: 404 }));
	const conversation = new Conversation();
	const turn = conversation.ask('q', {});
	await vi.waitFor(() => expect(turn.run.state).toBe('incomplete'));
	expect(turn.run.text).toBe('Death ');
	expect(historyOf(conversation.turns)).toEqual([]);
});

test('a stream that falls silent is taken up again', async () => {
	const silent = new Response(new ReadableStream({ start: (c) => c.enqueue(new TextEncoder().encode(opening)) }), {
		headers: { 'content-type': 'text/event-stream' },
	});
	serve(silent, streamed([sent(2, finished)]));
	const run = new Run('/api/ask', {});
	await run.follow({ ...quick, maxSilenceMs: 20 });
	expect(run.state).toBe('finished');
});

test('a refusal is shown in the words of the service', async () => {
	const error = { code: 'busy', message: 'Too many questions', hint: 'Wait.', retryable: true, request_id: 'x1' };
	serve(new Response(JSON.stringify({ error }), { status: 429, headers: { 'content-type': 'application/json' } }));
	const run = new Run('/api/ask', {});
	await run.follow();
	expect([run.state, run.error]).toEqual(['failed', error]);
});

test("a proxy's HTML page and a dead service give an error that one can act on", async () => {
	serve(new Response('<html>Bad gateway</html>', { status: 502 }), new TypeError('refused'));
	for (const code of ['http_502', 'unreachable']) {
		const run = new Run('/api/ask', {});
		await run.follow();
		expect([run.state, run.error?.code, run.error?.retryable]).toEqual(['failed', code, true]);
		expect(run.error?.hint).not.toBe('');
	}
});

test('stop ends the run here at once, tells the service, and keeps the words', async () => {
	const calls = serve(
		new Response(
			new ReadableStream({ start: (c) => c.enqueue(new TextEncoder().encode(opening + delta(2, 'Death'))) }),
			{
				headers: { 'content-type': 'text/event-stream' },
			},
		),
		new Response(null, { status: 204 }),
	);
	const run = new Run('/api/ask', {});
	const over = run.follow();
	await vi.waitFor(() => expect(run.text).toBe('Death'));
	run.stop();
	await over;
	expect([run.state, run.text]).toEqual(['cancelled', 'Death']);
	expect([calls[1]?.method, calls[1]?.url]).toEqual(['DELETE', 'http://127.0.0.1/api/runs/r1']);
});

test('a question goes with its filter and the finished turns before it; a retry replaces its own answer alone', async () => {
	const calls = serve(
		streamed([opening, sent(2, finished)]),
		streamed([opening]),
		new Response('', { status: 404 }),
		streamed([opening, sent(2, finished)]),
	);
	const conversation = new Conversation();
	const first = conversation.ask('first', { year_from: 2010 });
	await vi.waitFor(() => expect(first.run.isOver).toBe(true));
	const second = conversation.ask('second', {});
	await vi.waitFor(() => expect(second.run.isOver).toBe(true));
	conversation.retry(second);
	await vi.waitFor(() => expect(second.run.state).toBe('finished'));
	expect(first.run.text).toBe(text);
	expect(await calls[0]?.json()).toEqual({ question: 'first', filters: { year_from: 2010 }, history: [] });
	const history = [
		{ role: 'user', text: 'first' },
		{ role: 'assistant', text },
	];
	expect(await calls[1]?.json()).toEqual({ question: 'second', filters: {}, history });
	expect(await calls[3]?.json()).toEqual({ question: 'second', filters: {}, history });
});

test('a sentence shows the record that decides it, with its quote; a number shows its own record', () => {
	const run = new Run('/api/ask', {});
	run.apply(finished as never);
	const selection = new Selection();
	selection.showClaim(run, 'c1');
	expect([selection.number, selection.quotes]).toEqual([1, [{ span: proof.span, shows: 'supports' }]]);
	expect(selection.shownSpans).toEqual([{ start: 32, end: 57 }]);
	selection.showNumber(run, 2, 'c1');
	expect([selection.evidence?.pmid, selection.quotes, selection.numbers]).toEqual(['7', [], [1]]);
});

test('a filter that is off is not sent, whatever its fields hold, and cannot be wrong', () => {
	const filters = new FilterState();
	filters.form.yearFrom = '20';
	expect([filters.isValid, filters.filter]).toEqual([true, {}]);
	filters.toggle();
	expect(filters.isValid).toBe(false);
	filters.form.yearFrom = '2010';
	expect([filters.isValid, filters.filter]).toEqual([true, { year_from: 2010 }]);
});

test('the status line follows the service: loading, ready, gone', async () => {
	const corpus = {
		name: 'demo',
		records: 1302,
		embedder_state: 'loading',
		chat_model: '',
		example_questions: [],
		worked_example: null,
	};
	let state = 'loading';
	vi.stubGlobal('fetch', async (path: string) => {
		if (state === 'gone') throw new TypeError('refused');
		if (path === '/server_status') return Response.json({ serverMessage: 'Ready', serverStatus: 'OK' });
		return Response.json({ ...corpus, embedder_state: state });
	});
	const watch = new CorpusWatch();
	const lines: string[] = [];
	for (state of ['loading', 'ready', 'gone']) {
		await watch.refresh();
		lines.push(watch.line);
	}
	expect(lines).toEqual([
		'1,302 records · model still loading: searching by words alone',
		'1,302 records · ready',
		'Service not reachable; trying again',
	]);
});
