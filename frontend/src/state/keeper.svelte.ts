// Keeps the conversation while it changes: now and then as an answer grows, and at once when the page is left.
import type { StoredTurn } from '../lib/stored';
import type { History } from './history.svelte';

const waitMs = 400;

export class Keeper {
	#history: History;
	#latest: StoredTurn[] | null = null;
	#timer: ReturnType<typeof setTimeout> | undefined;
	#isLeft = false;

	constructor(history: History) {
		this.#history = history;
	}

	/** The conversation has changed to this. */
	changed(turns: StoredTurn[]): void {
		// A page that is being left loses its connections; that is no news about its answers.
		if (this.#isLeft) return;
		this.#latest = turns;
		this.#timer ??= setTimeout(() => this.flush(), waitMs);
	}

	/** Keep it now. */
	flush(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		if (this.#latest) this.#history.save(this.#latest);
		this.#latest = null;
	}

	/** Watch for the page being left; returns what stops it. */
	watch(): () => void {
		const onHide = () => {
			this.flush();
			this.#isLeft = true;
		};
		const onShow = () => {
			this.#isLeft = false;
		};
		addEventListener('pagehide', onHide);
		addEventListener('pageshow', onShow);
		return () => {
			removeEventListener('pagehide', onHide);
			removeEventListener('pageshow', onShow);
		};
	}
}
