// Values of the corpus that begin with what is being typed. Without the service's answer there are none: typing goes on.
import { getSuggestions, type Suggestion } from '../lib/api';
import type { ListField } from '../lib/filters';

const waitMs = 150;

export class Suggestions {
	values = $state.raw<Suggestion[]>([]);
	#field: ListField;
	#timer: ReturnType<typeof setTimeout> | undefined;
	#stopper: AbortController | undefined;
	#prefix = '';
	#pending = Promise.resolve();

	constructor(field: ListField) {
		this.#field = field;
	}

	/** Look for values soon, unless the text changes again. */
	lookSoon(prefix: string): void {
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => void this.look(prefix), waitMs);
	}

	/** Look for values now. */
	look(prefix: string): Promise<void> {
		clearTimeout(this.#timer);
		const wanted = prefix.trim();
		if (wanted !== this.#prefix) this.#pending = this.#find(wanted);
		return this.#pending;
	}

	async #find(wanted: string): Promise<void> {
		this.#stopper?.abort();
		this.#prefix = wanted;
		if (!wanted) {
			this.values = [];
			return;
		}
		const stopper = new AbortController();
		this.#stopper = stopper;
		try {
			const found = await getSuggestions(this.#field, wanted, stopper.signal);
			if (!stopper.signal.aborted) this.values = found;
		} catch {
			if (!stopper.signal.aborted) this.values = [];
		}
	}

	clear(): void {
		clearTimeout(this.#timer);
		this.#stopper?.abort();
		this.#prefix = '';
		this.values = [];
	}
}
