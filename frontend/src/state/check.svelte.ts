// A text under check: what was filled in, and the run that checks it. Kept in the browser across reloads.
import { type CheckBody, type CheckInput, bodyOf, emptyInput, problemOf } from '../lib/checking';
import type { StoredRun } from '../lib/stored';
import { Run } from './run.svelte';

const key = 'medcite-check';
const version = 1;
const maxChars = 1_500_000;
const waitMs = 400;

interface Kept {
	version: typeof version;
	input: CheckInput;
	body: CheckBody | null;
	run: StoredRun | null;
}

export class Check {
	input = $state<CheckInput>(emptyInput());
	run = $state.raw<Run | null>(null);
	/** What the run was asked; the form may have changed since. */
	body = $state.raw<CheckBody | null>(null);

	readonly problem = $derived(problemOf(this.input));
	readonly isRunning = $derived(this.run !== null && !this.run.isOver);
	readonly isEmpty = $derived(JSON.stringify(this.input) === JSON.stringify(emptyInput()) && !this.run);

	#timer: ReturnType<typeof setTimeout> | undefined;
	#isLeft = false;

	start(): void {
		if (this.problem || this.isRunning) return;
		this.#begin(bodyOf(this.input));
	}

	/** Once more, with what was asked before; a chat model is asked anew. */
	again(): void {
		if (this.body && !this.isRunning) this.#begin({ ...this.body, ask_anew: true });
	}

	stop(): void {
		this.run?.stop();
	}

	clear(): void {
		this.stop();
		this.input = emptyInput();
		this.run = null;
		this.body = null;
	}

	/** Take up what this browser kept. */
	restore(): void {
		const kept = read();
		if (!kept) return;
		this.input = { ...emptyInput(), ...kept.input };
		if (!kept.run || !kept.body) return;
		const run = Run.outliving('/api/verify', kept.body);
		run.restore(kept.run);
		this.run = run;
		this.body = kept.body;
		void run.resume();
	}

	/** Keep it while it changes, and at once when the page is left; returns what stops that. */
	watch(): () => void {
		const onHide = () => {
			this.#write();
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

	/** Something changed: keep it soon. */
	changed(_input: unknown, _run: unknown): void {
		// A page that is being left loses its connections; that is no news about its run.
		if (this.#isLeft) return;
		this.#timer ??= setTimeout(() => this.#write(), waitMs);
	}

	#begin(body: CheckBody): void {
		this.body = body;
		this.run = Run.outliving('/api/verify', body);
		void this.run.follow();
	}

	#write(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		try {
			if (this.isEmpty) localStorage.removeItem(key);
			else localStorage.setItem(key, this.#asText());
		} catch {
			// Private mode or a full disk: the check works all the same, it is only not kept.
		}
	}

	#asText(): string {
		const { version: _, ...rest } = { version, input: this.input, body: this.body, run: this.run?.toStored() ?? null };
		const whole = JSON.stringify({ version, ...rest });
		if (whole.length <= maxChars) return whole;
		const withoutRun = JSON.stringify({ version, input: this.input, body: null, run: null });
		return withoutRun.length <= maxChars
			? withoutRun
			: JSON.stringify({ version, input: { ...this.input, sources: [] }, body: null, run: null });
	}
}

function read(): Kept | null {
	try {
		const kept = JSON.parse(localStorage.getItem(key) ?? 'null') as Kept | null;
		if (kept?.version !== version || typeof kept.input?.text !== 'string' || !Array.isArray(kept.input.sources)) return null;
		const run = kept.run;
		const isRun = run && typeof run.text === 'string' && [run.claims, run.verdicts, run.evidence, run.records].every(Array.isArray);
		return isRun ? kept : { ...kept, run: null, body: null };
	} catch {
		return null;
	}
}
