// What the service holds and how it fares, asked again and again so that the page is never out of date.
import { type Corpus, getCorpus, getServerStatus, type ServerStatus } from '../lib/api';

const settledMs = 15_000;
const loadingMs = 2_000;
const maxBackoffMs = 30_000;

export class CorpusWatch {
	corpus = $state.raw<Corpus | null>(null);
	status = $state.raw<ServerStatus | null>(null);
	isReachable = $state(true);

	readonly isLoading = $derived(this.corpus?.embedder_state === 'loading');
	readonly tone = $derived.by((): 'ready' | 'waiting' | 'down' => {
		if (!this.isReachable) return 'down';
		if (!this.corpus || this.isLoading) return 'waiting';
		return this.status?.serverStatus === 'NOK' || this.corpus.embedder_state === 'failed' ? 'down' : 'ready';
	});
	readonly line = $derived.by(() => {
		if (!this.isReachable) return 'Service not reachable; trying again';
		if (!this.corpus) return 'Connecting';
		const records = `${this.corpus.records.toLocaleString('en')} records`;
		if (this.isLoading) return `${records} · model still loading: searching by words alone`;
		if (this.corpus.embedder_state === 'failed') return `${records} · no model: searching by words alone`;
		if (this.status?.serverStatus === 'NOK') return this.status.serverMessage;
		return `${records} · ready`;
	});

	#timer: ReturnType<typeof setTimeout> | undefined;
	#failures = 0;

	/** Start watching; returns what stops it. */
	watch(): () => void {
		let isStopped = false;
		const look = async () => {
			await this.refresh();
			if (!isStopped) this.#timer = setTimeout(look, this.#nextMs());
		};
		const onVisible = () => {
			if (document.visibilityState !== 'visible') return;
			clearTimeout(this.#timer);
			void look();
		};
		void look();
		document.addEventListener('visibilitychange', onVisible);
		return () => {
			isStopped = true;
			clearTimeout(this.#timer);
			document.removeEventListener('visibilitychange', onVisible);
		};
	}

	async refresh(): Promise<void> {
		try {
			[this.status, this.corpus] = await Promise.all([getServerStatus(), getCorpus()]);
			this.isReachable = true;
			this.#failures = 0;
		} catch {
			this.isReachable = false;
			this.#failures++;
		}
	}

	#nextMs(): number {
		if (this.#failures) return Math.min(loadingMs * 2 ** (this.#failures - 1), maxBackoffMs);
		return this.isLoading || !this.corpus ? loadingMs : settledMs;
	}
}
