// The conversations that this browser keeps, and which of them this tab is in. Without storage the page works all the same.
import {
	type KeptText,
	maxStoredChars,
	readConversation,
	type StoredConversation,
	type StoredTurn,
	storedVersion,
	tooOld,
	writeConversation,
} from '../lib/stored';

const prefix = 'medcite-conversation-';
const tabKey = 'medcite-conversation';

export interface KeptConversation {
	key: string;
	question: string;
	questions: number;
	savedAt: number;
}

/** How this conversation fares: `outdated` is kept as it was before its newest words, `forgotten` was taken away in another tab. */
export type Keeping = 'kept' | 'refused' | 'outdated' | 'forgotten';

export class History {
	/** Other conversations, newest first. */
	others = $state.raw<KeptConversation[]>([]);
	/** Conversations kept by another version of this page, which cannot be shown. */
	unreadable = $state(0);
	/** Conversations that were dropped by this page to make room. */
	droppedOthers = $state(0);
	/** Questions at the beginning of this conversation that are gone. */
	dropped = $state(0);
	/** Questions at its beginning that are still shown, but will be gone after a reload. */
	leftOut = $state(0);
	/** `refused`: the browser keeps nothing, for private mode, a full disk or a setting. */
	keeping = $state<Keeping>('kept');
	/** The conversation that was to be opened is not there any more. */
	isGone = $state(false);

	#key = newKey();
	/** What this tab last read or wrote under its key. Anything else that is found there is another tab's. */
	#text: string | null = null;
	/** The turns in `#text`: what has not changed is not written, so that only looking at a conversation changes nothing. */
	#turns = '';
	#storage: Storage | undefined;
	#tab: Storage | undefined;

	constructor() {
		try {
			this.#storage = window.localStorage;
			this.#tab = window.sessionStorage;
		} catch {
			this.keeping = 'refused';
		}
		this.look();
	}

	/** The conversation this tab was in before a reload; empty in a new tab. */
	restore(): StoredTurn[] {
		const key = this.#read(this.#tab, tabKey);
		const turns = key?.startsWith(prefix) ? this.open(key) : [];
		this.isGone = false;
		return turns;
	}

	/** Go on with a kept conversation. One that is gone meanwhile is none: another one begins. */
	open(key: string): StoredTurn[] {
		const text = this.#read(this.#storage, key);
		const kept = readConversation(text ?? '');
		if (!kept?.turns.length) {
			this.begin();
			this.isGone = true;
			return [];
		}
		this.#use(key, text);
		this.dropped = kept.dropped;
		this.#turns = JSON.stringify(kept.turns);
		return kept.turns;
	}

	/** Begin another conversation; the last one stays kept. */
	begin(): void {
		this.#use(newKey(), null);
	}

	/** Keep this conversation as it stands. Another tab's newer state is never written over, nor what it took away brought back. */
	save(turns: StoredTurn[], now = Date.now()): void {
		if (!turns.length || !this.#storage || this.keeping === 'forgotten') return;
		const found = this.#read(this.#storage, this.#key);
		if (this.#text !== null && found === null) {
			this.keeping = 'forgotten';
			return;
		}
		const asText = JSON.stringify(turns);
		if (this.keeping === 'kept' && asText === this.#turns) return;
		if (found !== this.#text) this.#part();
		const whole: StoredConversation = { version: storedVersion, savedAt: now, dropped: this.dropped, turns };
		for (const share of [1, 0.5, 0.2]) {
			// The browser may have less room than we count on: then less is kept.
			const { text, leftOut } = writeConversation(whole, maxStoredChars * share);
			if (!this.#keep(text, maxStoredChars * share)) continue;
			this.keeping = 'kept';
			this.leftOut = leftOut;
			this.#text = text;
			this.#turns = asText;
			this.#write(tabKey, this.#key, this.#tab);
			return;
		}
		this.keeping = this.#text === null ? 'refused' : 'outdated';
	}

	/** Keep a conversation again that was taken away in another tab. */
	keepAgain(turns: StoredTurn[]): void {
		this.#part();
		this.keeping = 'kept';
		this.save(turns);
	}

	forget(key: string): void {
		this.#remove(key);
		this.look();
	}

	/** Forget every conversation, whichever version of the page kept it. */
	forgetAll(): void {
		for (const key of this.#keys()) this.#remove(key);
		this.droppedOthers = 0;
		this.look();
	}

	/** Look again at what is kept. */
	look(): void {
		let unreadable = 0;
		this.others = this.#keys()
			.filter((key) => key !== this.#key)
			.flatMap((key) => {
				const kept = readConversation(this.#read(this.#storage, key) ?? '');
				const question = kept?.turns[0]?.question;
				if (kept && question) return [{ key, question, questions: kept.turns.length, savedAt: kept.savedAt }];
				unreadable++;
				return [];
			})
			.sort((a, b) => b.savedAt - a.savedAt);
		this.unreadable = unreadable;
	}

	/** Hear of what other tabs keep and take away; returns what stops it. */
	watch(): () => void {
		const onStorage = ({ key, oldValue, newValue }: StorageEvent) => {
			if (key !== null && !key.startsWith(prefix)) return;
			// Everything was taken away when no key is named.
			if (key === null || oldValue === null || newValue === null) this.look();
			if ((key !== null && key !== this.#key) || this.#text === null) return;
			if (newValue === null) this.keeping = 'forgotten';
			// Both wrote at once, and theirs came last: ours is kept beside it. What was built on ours has ours in it.
			else if (oldValue !== this.#text && newValue !== this.#text) {
				const ours = this.#text;
				this.#part();
				if (this.#write(this.#key, ours)) this.#text = ours;
				this.#write(tabKey, this.#key, this.#tab);
			}
		};
		addEventListener('storage', onStorage);
		return () => removeEventListener('storage', onStorage);
	}

	#use(key: string, text: string | null): void {
		this.#key = key;
		this.#text = text;
		this.#turns = '';
		this.dropped = this.leftOut = 0;
		this.isGone = false;
		if (this.keeping !== 'refused') this.keeping = 'kept';
		this.#write(tabKey, key, this.#tab);
		this.look();
	}

	/** Go on under a key of our own. */
	#part(): void {
		this.#key = newKey();
		this.#text = null;
		this.#turns = '';
		this.look();
	}

	#keys(): string[] {
		try {
			return Object.keys(this.#storage ?? {}).filter((key) => key.startsWith(prefix));
		} catch {
			return [];
		}
	}

	/** Write this conversation, then drop the oldest others that are beyond the limits. Without success none is dropped. */
	#keep(text: string, maxChars: number): boolean {
		if (this.#write(this.#key, text)) {
			this.#drop(this.#tooOld(text.length, maxStoredChars));
			return true;
		}
		const gone = this.#tooOld(text.length, maxChars);
		for (const { key } of gone) this.#remove(key);
		if (this.#write(this.#key, text)) {
			this.#drop(gone);
			return true;
		}
		for (const { key, text: theirs } of gone) this.#write(key, theirs);
		return false;
	}

	#tooOld(chars: number, maxChars: number): (KeptText & { text: string })[] {
		const others = this.#keys()
			.filter((key) => key !== this.#key)
			.flatMap((key) => {
				const text = this.#read(this.#storage, key) ?? '';
				const kept = readConversation(text);
				return kept ? [{ key, savedAt: kept.savedAt, chars: text.length, text }] : [];
			});
		const gone = new Set(tooOld(others, chars, maxChars));
		return others.filter(({ key }) => gone.has(key));
	}

	#drop(gone: readonly { key: string }[]): void {
		if (!gone.length) return;
		for (const { key } of gone) this.#remove(key);
		this.droppedOthers += gone.length;
		this.look();
	}

	#read(storage: Storage | undefined, key: string): string | null {
		try {
			return storage?.getItem(key) ?? null;
		} catch {
			return null;
		}
	}

	#write(key: string, text: string, storage = this.#storage): boolean {
		try {
			storage?.setItem(key, text);
			return storage !== undefined;
		} catch {
			return false;
		}
	}

	#remove(key: string): void {
		try {
			this.#storage?.removeItem(key);
		} catch {
			// What cannot be reached cannot be removed either.
		}
	}
}

function newKey(): string {
	return `${prefix}${Date.now().toString(36)}${Math.random().toString(36).slice(2, 10)}`;
}
