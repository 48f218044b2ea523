// @vitest-environment jsdom
// Several tabs of the page in one browser: none undoes what another one did to the conversations that are kept.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readConversation } from '../src/lib/stored';
import { History } from '../src/state/history.svelte';
import { storedTurn as turn } from './examples';

beforeEach(() => {
	localStorage.clear();
	sessionStorage.clear();
});
afterEach(() => {
	vi.restoreAllMocks();
});

const keys = () => Object.keys(localStorage).sort();
const questionsIn = (key: string) => readConversation(localStorage.getItem(key) ?? '')?.turns.map(({ question }) => question);
const allQuestions = () => keys().map((key) => questionsIn(key)?.join(' '));

/** A tab in which these questions were asked, and the key under which they are kept. */
function tab(...questions: string[]): { here: History; key: string } {
	const known = keys();
	const here = new History();
	here.save(questions.map((question) => turn(question)), 1_000 + known.length);
	return { here, key: keys().find((key) => !known.includes(key)) ?? '' };
}

/** A tab that was duplicated, or that opened a conversation which another tab is in. */
function second(key: string): History {
	const there = new History();
	there.open(key);
	return there;
}

test('a conversation that was forgotten in another tab is not brought back by the next question in this one', () => {
	const { here, key } = tab('a');
	new History().forget(key);
	here.save([turn('a'), turn('b')]);
	expect([keys(), here.keeping]).toEqual([[], 'forgotten']);
	here.save([turn('a'), turn('b'), turn('c')]);
	expect(keys()).toEqual([]);
	here.begin();
	here.save([turn('d')]);
	expect([allQuestions(), here.keeping]).toEqual([['d'], 'kept']);
});

test('a tab hears at once that its conversation was forgotten, and can keep it again under another key', () => {
	const { here, key } = tab('a');
	const stop = here.watch();
	const oldValue = localStorage.getItem(key);
	new History().forget(key);
	dispatchEvent(new StorageEvent('storage', { key, oldValue, newValue: null }));
	expect(here.keeping).toBe('forgotten');
	here.keepAgain([turn('a'), turn('b')]);
	stop();
	expect([allQuestions(), here.keeping]).toEqual([['a b'], 'kept']);
	expect(localStorage.getItem(key)).toBeNull();
});

test('opening a conversation that is gone meanwhile begins another one, and leaves the last one as it was', () => {
	const { here } = tab('a');
	const { key } = tab('b');
	here.look();
	new History().forget(key);
	expect(here.open(key)).toEqual([]);
	expect([here.isGone, here.others.map(({ question }) => question)]).toEqual([true, ['a']]);
	here.save([turn('new')]);
	expect(allQuestions().sort()).toEqual(['a', 'new']);
	here.begin();
	expect(here.isGone).toBe(false);
});

test('of two tabs in one conversation the one that asks later goes on under a key of its own', () => {
	const { here, key } = tab('a');
	const there = second(key);
	there.save([turn('a'), turn('there')]);
	here.save([turn('a'), turn('here')]);
	expect(questionsIn(key)).toEqual(['a', 'there']);
	expect(allQuestions().sort()).toEqual(['a here', 'a there']);
	there.save([turn('a'), turn('there'), turn('again')]);
	here.save([turn('a'), turn('here'), turn('again')]);
	expect(allQuestions().sort()).toEqual(['a here again', 'a there again']);
});

test('of two tabs that write at once none loses its words, although the browser tells them late', () => {
	const { here, key } = tab('a');
	const stop = here.watch();
	const before = localStorage.getItem(key);
	here.save([turn('a'), turn('here')]);
	// The other tab's browser process had not heard of it when it wrote.
	const theirs = JSON.stringify({ version: 1, savedAt: 5, dropped: 0, turns: [turn('a'), turn('there')] });
	localStorage.setItem(key, theirs);
	dispatchEvent(new StorageEvent('storage', { key, oldValue: before, newValue: theirs }));
	stop();
	expect(allQuestions().sort()).toEqual(['a here', 'a there']);
});

test('what another tab built on the state of this one is no reason for a copy', () => {
	const { here, key } = tab('a');
	const stop = here.watch();
	const oldValue = localStorage.getItem(key);
	second(key).save([turn('a'), turn('there')]);
	dispatchEvent(new StorageEvent('storage', { key, oldValue, newValue: localStorage.getItem(key) }));
	stop();
	expect(allQuestions()).toEqual(['a there']);
});

test('only looking at a conversation writes nothing', () => {
	const { key } = tab('a');
	const before = localStorage.getItem(key);
	second(key).save([turn('a')]);
	expect([keys(), localStorage.getItem(key)]).toEqual([[key], before]);
});

test('“Forget all” takes away every conversation of ours, of this and of other versions, and nothing else', () => {
	tab('a');
	const { here } = tab('b');
	localStorage.setItem('medcite-conversation-old', '{"version":0,"turns":[]}');
	localStorage.setItem('medcite-conversation-odd', 'no JSON');
	localStorage.setItem('medcite-theme', 'dark');
	localStorage.setItem('someone-else', 'x');
	const fresh = new History();
	expect([fresh.others.length, fresh.unreadable]).toEqual([2, 2]);
	fresh.forgetAll();
	expect([keys(), fresh.others, fresh.unreadable]).toEqual([['medcite-theme', 'someone-else'], [], 0]);
	here.save([turn('b'), turn('c')]);
	expect(keys()).toEqual(['medcite-theme', 'someone-else']);
});

/** A browser that holds at most `room` characters of ours. */
function fill(room: number): void {
	const real = Storage.prototype.setItem;
	vi.spyOn(Storage.prototype, 'setItem').mockImplementation(function (this: Storage, key, value) {
		const used = keys().reduce((sum, other) => sum + (other === key ? 0 : (localStorage.getItem(other) ?? '').length), 0);
		if (this === localStorage && used + value.length > room) throw new DOMException('full', 'QuotaExceededError');
		real.call(this, key, value);
	});
}

test('a save that fails has dropped no other conversation, and says so', () => {
	tab('a');
	tab('b');
	const { here, key } = tab('mine');
	const before = keys().map((one) => localStorage.getItem(one));
	fill(3_000);
	here.save([turn('mine'), turn('newest', 'x'.repeat(2_990_000))]);
	expect(here.keeping).toBe('outdated');
	expect(keys().map((one) => localStorage.getItem(one))).toEqual(before);
	expect(here.droppedOthers).toBe(0);
	here.save([turn('mine'), turn('newest')]);
	expect([here.keeping, questionsIn(key)]).toEqual(['kept', ['mine', 'newest']]);
});

test('a save that needs room drops the oldest, as many as it takes, and counts them', () => {
	const { key: oldest } = tab('oldest');
	localStorage.setItem(oldest, JSON.stringify({ version: 1, savedAt: 1, dropped: 0, turns: [turn('oldest', 'x'.repeat(1_500_000))] }));
	tab('newer');
	const { here } = tab('mine');
	fill(3_000_000);
	here.save([turn('mine', 'y'.repeat(2_000_000))]);
	expect([here.keeping, here.droppedOthers, allQuestions().sort()]).toEqual(['kept', 1, ['mine', 'newer']]);
});
