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

export class History {
	/** Other conversations, newest first. */
	others = $state.raw<KeptConversation[]>([]);
	/** Conversations that were dropped by this page to make room. */
	droppedOthers = $state(0);
	/** Questions at the beginning of this conversation that are gone. */
	dropped = $state(0);
	/** Questions at its beginning that are still shown, but will be gone after a reload. */
	leftOut = $state(0);
	/** False when the browser refuses to keep anything: private mode, a full disk, a setting. */
	isKept = $state(true);

	#key = newKey();
	#storage: Storage | undefined;
	#tab: Storage | undefined;

	constructor() {
		try {
			this.#storage = window.localStorage;
			this.#tab = window.sessionStorage;
		} catch {
			this.isKept = false;
		}
		this.look();
	}

	/** The conversation this tab was in before a reload; empty in a new tab. */
	restore(): StoredTurn[] {
		const key = this.#read(this.#tab, tabKey);
		return key?.startsWith(prefix) ? this.open(key) : [];
	}

	/** Go on with a kept conversation. */
	open(key: string): StoredTurn[] {
		const kept = this.#conversation(key);
		if (!kept?.turns.length) return [];
		this.#use(key);
		this.dropped = kept.dropped;
		this.leftOut = 0;
		return kept.turns;
	}

	/** Begin another conversation; the last one stays kept. */
	begin(): void {
		this.#use(newKey());
		this.dropped = this.leftOut = 0;
	}

	/** Keep this conversation as it stands. */
	save(turns: StoredTurn[], now = Date.now()): void {
		if (!turns.length || !this.#storage) return;
		const whole: StoredConversation = { version: storedVersion, savedAt: now, dropped: this.dropped, turns };
		for (const share of [1, 0.5, 0.2]) {
			// The browser may have less room than we count on: then less is kept.
			const { text, leftOut } = writeConversation(whole, maxStoredChars * share);
			this.#makeRoom(text.length, maxStoredChars * share);
			if (!this.#write(this.#key, text)) continue;
			this.isKept = true;
			this.leftOut = leftOut;
			this.#write(tabKey, this.#key, this.#tab);
			return;
		}
		this.isKept = false;
	}

	forget(key: string): void {
		this.#remove(key);
		this.look();
	}

	forgetAll(): void {
		for (const { key } of this.others) this.#remove(key);
		this.droppedOthers = 0;
		this.look();
	}

	/** Look again at what is kept. */
	look(): void {
		this.others = this.#keys()
			.filter((key) => key !== this.#key)
			.flatMap((key) => {
				const kept = this.#conversation(key);
				const question = kept?.turns[0]?.question;
				return kept && question ? [{ key, question, questions: kept.turns.length, savedAt: kept.savedAt }] : [];
			})
			.sort((a, b) => b.savedAt - a.savedAt);
	}

	/** Two tabs in one conversation (a tab was duplicated): this one goes on under a key of its own. Returns what stops it. */
	watch(): () => void {
		const onStorage = (event: StorageEvent) => {
			if (event.key === this.#key && event.newValue !== null) this.#use(newKey());
		};
		addEventListener('storage', onStorage);
		return () => removeEventListener('storage', onStorage);
	}

	#use(key: string): void {
		this.#key = key;
		this.#write(tabKey, key, this.#tab);
		this.look();
	}

	#conversation(key: string): StoredConversation | null {
		return readConversation(this.#read(this.#storage, key) ?? '');
	}

	#keys(): string[] {
		try {
			return Object.keys(this.#storage ?? {}).filter((key) => key.startsWith(prefix));
		} catch {
			return [];
		}
	}

	#makeRoom(chars: number, maxChars: number): void {
		const others = this.#keys()
			.filter((key) => key !== this.#key)
			.flatMap((key): KeptText[] => {
				const text = this.#read(this.#storage, key) ?? '';
				const kept = readConversation(text);
				return kept ? [{ key, savedAt: kept.savedAt, chars: text.length }] : [];
			});
		const gone = tooOld(others, chars, maxChars);
		for (const key of gone) this.#remove(key);
		if (!gone.length) return;
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
