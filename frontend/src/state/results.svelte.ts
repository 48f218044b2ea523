// The list of all hits as the reader goes through it, and the records marked on the way.
import { SvelteSet } from 'svelte/reactivity';
import { shownError } from '../lib/api';
import { setParameters } from '../lib/address';
import type { ErrorOut, SearchReportOut } from '../lib/events';
import type { SearchFilter } from '../lib/filters';
import { fetchResults, type Hit, type ListRequest, pageCount, pageSize, parametersOf, requestIn } from '../lib/results';

const slowMs = 700;

export class ResultList {
	/** What is to be shown; it stands in the address. */
	request = $state.raw<ListRequest>(requestIn(location.search));
	state = $state<'idle' | 'loading' | 'ready' | 'failed'>('idle');
	/** Of the last page that came; they stay while the next one is fetched. */
	hits = $state.raw<Hit[]>([]);
	total = $state(0);
	search = $state.raw<SearchReportOut | null>(null);
	/** The request and filter that `hits` answer. */
	shown = $state.raw<{ request: ListRequest; filters: SearchFilter } | null>(null);
	error = $state.raw<ErrorOut | null>(null);
	/** Place on this page of the record shown beside the list; -1 when there is none. */
	openAt = $state(-1);
	/** News for a screen reader. */
	spoken = $state('');

	readonly pages = $derived(pageCount(this.total));
	readonly open = $derived<Hit | null>(this.hits[this.openAt] ?? null);
	readonly countLine = $derived(countLine(this.total, this.shown?.request.query ?? '', this.shown?.filters ?? {}));
	/** Number of the first record on the page, from 1. */
	readonly firstNumber = $derived(((this.shown?.request.page ?? 1) - 1) * pageSize + 1);

	#stopper: AbortController | null = null;
	#openNext: 'first' | 'last' | null = null;
	/** How the first page of a list was searched: the pages after it keep to its order. */
	#order: { key: string; mode: SearchReportOut['mode'] } | null = null;
	#last: { request: ListRequest; filterKey: string } | null = null;

	/** Whether loading now would be for another filter than last time, as while the reader fills in its fields. */
	isOtherFilter(filters: SearchFilter): boolean {
		return this.#last !== null && this.#last.filterKey !== JSON.stringify(filters);
	}

	/** Fetch what is asked for. Never throws: how it ended is in `state`. */
	async load(filters: SearchFilter): Promise<void> {
		const filterKey = JSON.stringify(filters);
		if (this.#last?.request === this.request && this.#last.filterKey === filterKey) return;
		// Under another filter the pages are others; an address that was gone back to names its page.
		if (this.#last?.request === this.request && this.request.page > 1) this.#set({ page: 1 }, false);
		const request = this.request;
		this.#last = { request, filterKey };
		this.#stopper?.abort();
		this.#stopper = null;
		const stopper = new AbortController();
		this.#stopper = stopper;
		this.state = 'loading';
		// What comes at once needs no word of its own.
		const timer = setTimeout(() => {
			if (!stopper.signal.aborted) this.spoken = 'Searching…';
		}, slowMs);
		try {
			const key = JSON.stringify([{ ...request, page: 1 }, filterKey]);
			const mode = request.page > 1 && this.#order?.key === key ? this.#order.mode : null;
			const page = await fetchResults(request, filters, stopper.signal, mode);
			if (stopper.signal.aborted) return;
			if (!mode) this.#order = { key, mode: page.search.mode };
			if (!page.records.length && page.total > 0 && request.page > 1) {
				this.#set({ page: pageCount(page.total) }, false);
				return;
			}
			this.hits = page.records;
			this.total = page.total;
			this.search = page.search;
			this.shown = { request, filters };
			this.state = 'ready';
			this.openAt = this.#openNext === 'first' ? 0 : this.#openNext === 'last' ? page.records.length - 1 : -1;
			this.spoken = `${this.countLine}.${this.pages > 1 ? ` Page ${request.page} of ${this.pages}.` : ''}`;
		} catch (thrown) {
			if (stopper.signal.aborted) return;
			this.error = shownError(thrown);
			this.state = 'failed';
			this.openAt = -1;
			this.spoken = `The list could not be fetched. ${this.error.message}`;
		} finally {
			clearTimeout(timer);
		}
		this.#openNext = null;
	}

	retry(): void {
		this.#last = null;
		this.#set({}, false);
	}

	/** Ask for something else; the browser's back button goes back to what was. */
	ask(change: Partial<ListRequest>): void {
		const wanted = { ...this.request, page: 1, ...change };
		// What is being fetched already is not asked for twice.
		if (this.state === 'loading' && JSON.stringify(wanted) === JSON.stringify(this.request)) return;
		this.#openNext = null;
		this.#set({ page: 1, ...change }, true);
	}

	/** Follow the browser's back and forward buttons; returns what stops it. */
	watch(): () => void {
		const onMove = () => {
			this.request = requestIn(location.search);
		};
		addEventListener('popstate', onMove);
		return () => {
			removeEventListener('popstate', onMove);
			this.#stopper?.abort();
		};
	}

	/** Open the next or the previous record, over the page's end too; `from` is where to start when none is open. */
	step(by: 1 | -1, from = -1): void {
		if (this.state !== 'ready' || !this.hits.length) return;
		const at = (this.openAt >= 0 ? this.openAt : from) + by;
		const page = this.request.page;
		if (at >= this.hits.length && page < this.pages) {
			this.ask({ page: page + 1 });
			this.#openNext = 'first';
		} else if (at < 0 && page > 1) {
			this.ask({ page: page - 1 });
			this.#openNext = 'last';
		} else if (at >= this.hits.length || at < 0) {
			this.spoken = at < 0 ? 'This is the first record.' : 'This is the last record.';
		} else {
			this.openAt = at;
		}
	}

	#set(change: Partial<ListRequest>, isStep: boolean): void {
		this.request = { ...this.request, ...change };
		setParameters(parametersOf(this.request), isStep);
	}
}

/** "1 record matches", "412 records match"; without words to look for "All 412 records", or how many pass the filter. */
export function countLine(total: number, query: string, filters: SearchFilter): string {
	const isFiltered = Object.keys(filters).length > 0;
	const count = total === 0 ? 'No' : total.toLocaleString('en');
	if (query) return total === 1 ? '1 record matches' : `${count} records match`;
	if (isFiltered) return total === 1 ? '1 record passes the filter' : `${count} records pass the filter`;
	return total === 1 ? 'The only record' : total === 0 ? 'No records' : `All ${count} records`;
}

const marksKey = 'medcite-marks';

/** Records that the reader marked, whatever page or search they were found by; kept in this browser. */
export class Marks {
	readonly #pmids = new SvelteSet<string>(storedMarks());

	get count(): number {
		return this.#pmids.size;
	}

	/** In the order in which they were marked. */
	get pmids(): string[] {
		return [...this.#pmids];
	}

	has(pmid: string): boolean {
		return this.#pmids.has(pmid);
	}

	set(pmids: readonly string[], isMarked: boolean): void {
		for (const pmid of pmids) {
			if (isMarked) this.#pmids.add(pmid);
			else this.#pmids.delete(pmid);
		}
		this.#keep();
	}

	clear(): void {
		this.#pmids.clear();
		this.#keep();
	}

	/** Take over what is marked in other windows; returns what stops it. */
	watch(): () => void {
		const onStorage = (event: StorageEvent) => {
			if (event.key !== marksKey && event.key !== null) return;
			this.#pmids.clear();
			for (const pmid of storedMarks()) this.#pmids.add(pmid);
		};
		addEventListener('storage', onStorage);
		return () => removeEventListener('storage', onStorage);
	}

	#keep(): void {
		try {
			if (this.#pmids.size) localStorage.setItem(marksKey, JSON.stringify(this.pmids));
			else localStorage.removeItem(marksKey);
		} catch {
			// Without storage the marks last as long as the page.
		}
	}
}

function storedMarks(): string[] {
	try {
		const stored: unknown = JSON.parse(localStorage.getItem(marksKey) ?? '[]');
		return Array.isArray(stored) ? stored.filter((pmid) => typeof pmid === 'string') : [];
	} catch {
		return [];
	}
}
