// @vitest-environment jsdom
// Conversations kept in the browser: what comes back after a reload, what does not, and what happens without room.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readConversation, type StoredTurn, tooOld, whenWords, writeConversation } from '../src/lib/stored';
import { Conversation, historyOf } from '../src/state/conversation.svelte';
import { History } from '../src/state/history.svelte';
import { Keeper } from '../src/state/keeper.svelte';
import { answer, claim, evidence, sent, storedTurn as turn, streamed, verdict } from './examples';

const opening = sent(1, { type: 'run', run_id: 'r1' });
const delta = (id: number, words: string) => sent(id, { type: 'text', delta: words });

function finished(text: string, pmid: string) {
	const found = [evidence(1, { pmid }), evidence(2, { pmid })];
	const claims = [claim('c1', text, text, [1])];
	return { type: 'finished', answer: answer(text, { claims, verdicts: [verdict('c1')], evidence: found }) };
}

function serve(...responses: (Response | Error)[]) {
	const calls: [string, string, Record<string, unknown>][] = [];
	vi.stubGlobal('fetch', async (path: string, init?: RequestInit) => {
		calls.push([init?.method ?? 'GET', path, JSON.parse(String(init?.body ?? '{}'))]);
		const next = responses.shift();
		if (!next || next instanceof Error) throw next ?? new TypeError('no more answers');
		return next;
	});
	return calls;
}

/** What a reload does: everything in memory is gone. */
function reloaded(): { conversation: Conversation; history: History } {
	const history = new History();
	const conversation = new Conversation();
	conversation.restore(history.restore());
	return { conversation, history };
}

beforeEach(() => {
	localStorage.clear();
	sessionStorage.clear();
});
afterEach(() => {
	vi.unstubAllGlobals();
	vi.restoreAllMocks();
});

async function talked(...texts: string[]): Promise<{ conversation: Conversation; history: History }> {
	const conversation = new Conversation();
	for (const [place, text] of texts.entries()) {
		serve(streamed([opening, sent(2, finished(text, String(100 + place)))]));
		const turn = conversation.ask(`question ${place + 1}`, { year_from: 2000 + place });
		await vi.waitFor(() => expect(turn.run.state).toBe('finished'));
	}
	const history = new History();
	history.save(conversation.toStored());
	return { conversation, history };
}

test('FR-109: after a reload each answer has its own sources, verdicts and filter, in order', async () => {
	const before = await talked('Death fell [1].', 'Pain fell [1].');
	const { conversation } = reloaded();
	expect(conversation.turns.map((turn) => turn.question)).toEqual(['question 1', 'question 2']);
	for (const [place, turn] of conversation.turns.entries()) {
		const { run } = before.conversation.turns[place] as (typeof before.conversation.turns)[number];
		expect(turn.run.state).toBe('finished');
		expect(turn.run.answer).toEqual(run.answer);
		expect(turn.run.evidence).toEqual(run.evidence);
		expect(turn.run.verdictOf.get('c1')?.label).toBe('supported');
		expect(turn.filter).toEqual({ year_from: 2000 + place });
	}
	expect(historyOf(conversation.turns)).toEqual(historyOf(before.conversation.turns));
});

test('a record that many passages share is kept once', async () => {
	const { conversation } = await talked('Death fell [1].');
	expect(conversation.toStored()[0]?.run.records).toHaveLength(1);
});

test('FR-129: a stopped third question keeps its words and its mark after a reload; the first two are whole', async () => {
	const { conversation, history } = await talked('Death fell [1].', 'Pain fell [1].');
	serve(
		new Response(new ReadableStream({ start: (c) => c.enqueue(new TextEncoder().encode(opening + delta(2, 'Half a'))) }), {
			headers: { 'content-type': 'text/event-stream' },
		}),
		new Response(null, { status: 204 }),
	);
	const third = conversation.ask('question 3', {});
	await vi.waitFor(() => expect(third.run.text).toBe('Half a'));
	third.run.stop();
	history.save(conversation.toStored());
	const after = reloaded().conversation;
	expect(after.turns.map(({ run }) => run.state)).toEqual(['finished', 'finished', 'cancelled']);
	expect(after.turns[2]?.run.text).toBe('Half a');
	expect(after.turns[2]?.question).toBe('question 3');
});

test('FR-125: an incomplete answer stays incomplete after a reload and is never sent as history', async () => {
	const conversation = new Conversation();
	serve(streamed([opening, delta(2, 'Half '), sent(3, { type: 'incomplete', reason: 'cut', text: 'Half ', error: null })]));
	const turn = conversation.ask('q', {});
	await vi.waitFor(() => expect(turn.run.state).toBe('incomplete'));
	new History().save(conversation.toStored());
	const after = reloaded().conversation;
	expect(after.turns.map(({ run }) => [run.state, run.text, run.reason])).toEqual([['incomplete', 'Half ', 'cut']]);
	const calls = serve(streamed([opening, sent(2, finished('Whole.', '1'))]));
	const next = after.ask('next', {});
	await vi.waitFor(() => expect(next.run.isOver).toBe(true));
	expect(calls[0]?.[2].history).toEqual([]);
});

function leftInTheMiddle(): void {
	const conversation = new Conversation();
	serve(new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } }));
	const turn = conversation.ask('q', {});
	turn.run.apply({ type: 'run', run_id: 'r7' } as never);
	turn.run.apply({ type: 'text', delta: 'Half ' } as never);
	new History().save(conversation.toStored());
}

test('a run that was going on at a reload is taken up from its first event, without doubling its words', async () => {
	leftInTheMiddle();
	const calls = serve(
		streamed([sent(1, { type: 'run', run_id: 'r7' }), delta(2, 'Half '), delta(3, 'whole'), sent(4, finished('Half whole.', '5'))]),
	);
	const { conversation } = reloaded();
	const run = conversation.turns[0]?.run;
	expect([run?.state, run?.text]).toEqual(['reconnecting', 'Half ']);
	await vi.waitFor(() => expect(run?.state).toBe('finished'));
	expect(run?.text).toBe('Half whole.');
	expect(calls.map(([method, path]) => [method, path])).toEqual([['GET', '/api/runs/r7/events']]);
});

test('a run that is gone after a reload is incomplete, with its words and a way to ask again', async () => {
	leftInTheMiddle();
	serve(new Response('', { status: 404 }));
	const { conversation } = reloaded();
	const turn = conversation.turns[0];
	await vi.waitFor(() => expect(turn?.run.state).toBe('incomplete'));
	expect([turn?.run.text, historyOf(conversation.turns)]).toEqual(['Half ', []]);
	serve(streamed([opening, sent(2, finished('Whole.', '5'))]));
	if (turn) conversation.retry(turn);
	await vi.waitFor(() => expect(turn?.run.text).toBe('Whole.'));
});

test('FR-131: after a restart of the service a retry replaces the last answer alone', async () => {
	const { history } = await talked('One.', 'Two.', 'Three.', 'Four.');
	const { conversation } = reloaded();
	const last = conversation.turns[3];
	serve(new TypeError('down'));
	if (last) conversation.retry(last);
	await vi.waitFor(() => expect(last?.run.state).toBe('failed'));
	history.save(conversation.toStored());
	expect(conversation.turns.map(({ run }) => run.text)).toEqual(['One.', 'Two.', 'Three.', '']);
	const calls = serve(streamed([opening, sent(2, finished('Four again.', '1'))]));
	if (last) conversation.retry(last);
	await vi.waitFor(() => expect(last?.run.state).toBe('finished'));
	expect(conversation.turns.map(({ run }) => run.text)).toEqual(['One.', 'Two.', 'Three.', 'Four again.']);
	expect(calls[0]?.[2].history).toHaveLength(6);
});

test('at most 20 earlier messages are sent, the newest ones', async () => {
	const { conversation } = await talked(...Array.from({ length: 12 }, (_, n) => `Answer ${n}.`));
	const sentHistory = historyOf(conversation.turns);
	expect([sentHistory.length, sentHistory[0]?.text]).toEqual([20, 'question 3']);
});

test('an edited question goes without the turns before it, and so does its retry', async () => {
	const { conversation } = await talked('One.');
	const calls = serve(streamed([opening, sent(2, finished('A.', '1'))]), streamed([opening, sent(2, finished('B.', '1'))]));
	const turn = conversation.ask('Does it help children?', {}, true);
	await vi.waitFor(() => expect(turn.run.isOver).toBe(true));
	conversation.retry(turn);
	await vi.waitFor(() => expect(turn.run.text).toBe('B.'));
	expect(calls.map(([, , body]) => body.history)).toEqual([[], []]);
});

test('what does not fit loses its oldest questions, and says how many', () => {
	const turns = Array.from({ length: 6 }, (_, n) => turn(`q${n}`, 'x'.repeat(1000)));
	const { text, leftOut } = writeConversation({ version: 1, savedAt: 1, dropped: 2, turns }, 4000);
	expect(text.length).toBeLessThanOrEqual(4000);
	const kept = readConversation(text);
	expect(kept?.turns.at(-1)?.question).toBe('q5');
	expect([leftOut, kept?.dropped, kept?.turns.length]).toEqual([6 - (kept?.turns.length ?? 0), 2 + leftOut, 6 - leftOut]);
	expect(leftOut).toBeGreaterThan(0);
});

test('conversations go oldest first when there are too many or too long ones', () => {
	const others = [3, 1, 2].map((savedAt) => ({ key: `k${savedAt}`, savedAt, chars: 100 }));
	expect(tooOld(others, 100, 400, 9)).toEqual([]);
	expect(tooOld(others, 150, 400, 9)).toEqual(['k1']);
	expect(tooOld(others, 1000, 400, 9)).toEqual(['k1', 'k2', 'k3']);
	expect(tooOld(others, 1, 400, 2)).toEqual(['k1', 'k2']);
});

test.each([
	'',
	'{',
	'null',
	'[]',
	'{"version":2,"turns":[]}',
	'{"version":1,"turns":{}}',
])('a kept text that is no conversation of this version is none: %s', (text) => {
	expect(readConversation(text)).toBeNull();
});

test('a turn that cannot be read is left out and counted; the others are shown', () => {
	const bad = [null, {}, { ...turn('q'), run: { ...turn('q').run, state: 'odd' } }, { ...turn('q'), run: null }];
	const finishedWithoutAnswer = { ...turn('q'), run: { ...turn('q').run, state: 'finished' } };
	const kept = readConversation(
		JSON.stringify({ version: 1, savedAt: 5, dropped: 0, turns: [...bad, finishedWithoutAnswer, turn('good')] }),
	);
	expect([kept?.turns.map(({ question }) => question), kept?.dropped]).toEqual([['good'], 5]);
});

test('a browser without room keeps less, and one that keeps nothing is said to', () => {
	const history = new History();
	const long = Array.from({ length: 5 }, (_, n) => turn(`q${n}`, 'x'.repeat(400_000)));
	const real = Storage.prototype.setItem;
	let room = 1_000_000;
	vi.spyOn(Storage.prototype, 'setItem').mockImplementation(function (this: Storage, key, value) {
		if (value.length > room) throw new DOMException('full', 'QuotaExceededError');
		real.call(this, key, value);
	});
	history.save(long);
	expect([history.keeping, history.leftOut]).toEqual(['kept', 4]);
	room = 0;
	history.save([...long, turn('newest')]);
	expect(history.keeping).toBe('outdated');
	const fresh = new History();
	fresh.save([turn('q')]);
	expect(fresh.keeping).toBe('refused');
});

test('in private mode, where storage throws, a conversation works as long as the page', async () => {
	vi.spyOn(window, 'localStorage', 'get').mockImplementation(() => {
		throw new DOMException('denied', 'SecurityError');
	});
	const history = new History();
	expect([history.keeping, history.restore(), history.others]).toEqual(['refused', [], []]);
	history.save([turn('q')]);
	history.begin();
	history.forget('medcite-conversation-x');
});

test('a new conversation leaves the last one on the list, and forgetting takes it away for good', async () => {
	const { history } = await talked('One.');
	history.begin();
	expect(history.others.map(({ question, questions }) => [question, questions])).toEqual([['question 1', 1]]);
	expect(reloaded().conversation.turns).toEqual([]);
	const key = history.others[0]?.key ?? '';
	history.forget(key);
	expect([history.others, localStorage.getItem(key)]).toEqual([[], null]);
});

test('a page that is being left keeps what it has, and not the loss of its connections', () => {
	vi.useFakeTimers();
	const saved: number[] = [];
	const keeper = new Keeper({ save: (turns: StoredTurn[]) => saved.push(turns.length) } as unknown as History);
	const stop = keeper.watch();
	keeper.changed([turn('a')]);
	expect(saved).toEqual([]);
	dispatchEvent(new Event('pagehide'));
	keeper.changed([turn('a'), turn('b')]);
	vi.runAllTimers();
	expect(saved).toEqual([1]);
	dispatchEvent(new Event('pageshow'));
	keeper.changed([turn('a'), turn('b'), turn('c')]);
	vi.runAllTimers();
	expect(saved).toEqual([1, 3]);
	stop();
	vi.useRealTimers();
});

test('times are said in words', () => {
	const now = Date.UTC(2026, 0, 10, 12);
	const ago = (minutes: number) => whenWords(now - minutes * 60_000, now);
	expect([0, 1, 5, 60, 300, 1500].map(ago)).toEqual([
		'just now',
		'1 minute ago',
		'5 minutes ago',
		'1 hour ago',
		'5 hours ago',
		'yesterday',
	]);
	expect(ago(60 * 24 * 9)).toMatch(/January 1, 2026/);
});
