// One run of the service, as the page sees it grow: an answer being written and checked, or a text being verified.
import { ApiError, cancelRun, shownError } from '../lib/api';
import type {
	AnswerOut,
	ClaimOut,
	ErrorOut,
	EvidenceOut,
	RunMessage,
	SearchReportOut,
	VerdictOut,
} from '../lib/events';
import { ConnectionLost, laterEvents, runEvents, type StreamOptions } from '../lib/runstream';
import { type SentenceLabel, sentencesOf, worstLabel } from '../lib/sentences';
import { sourceIdOf, type StoredRun } from '../lib/stored';

const leavingMs = 100;

export type RunState = 'running' | 'reconnecting' | 'finished' | 'incomplete' | 'cancelled' | 'failed';

export class Run {
	state = $state<RunState>('running');
	stage = $state({ name: '', done: 0, total: 0 });
	text = $state('');
	evidence = $state.raw<EvidenceOut[]>([]);
	search = $state.raw<SearchReportOut | null>(null);
	claims = $state.raw<ClaimOut[]>([]);
	verdicts = $state.raw<VerdictOut[]>([]);
	/** The finished answer; null until then, and for ever when the run does not finish. */
	answer = $state.raw<AnswerOut | null>(null);
	/** Why a run failed, or is incomplete. */
	error = $state.raw<ErrorOut | null>(null);
	reason = $state('');
	/** The number by which the service's log knows the request. */
	requestId = $state('');

	readonly verdictOf = $derived(new Map(this.verdicts.map((verdict) => [verdict.claim_id, verdict])));
	/** Sentences with their claims; a sentence goes by the id of its first claim. */
	readonly sentences = $derived(sentencesOf(this.text, this.claims));
	/** The worst verdict of each sentence, once all of its claims are decided. */
	readonly labelOf = $derived(
		new Map(
			this.sentences.flatMap(({ whole, claims }): [string, SentenceLabel][] => {
				const labels = claims.flatMap((claim) => this.verdictOf.get(claim.id)?.label ?? []);
				const label = labels.length === claims.length ? worstLabel(labels) : null;
				return label ? [[whole.id, label]] : [];
			}),
		),
	);
	/** Passages that the checker found, which the answer was not made from. */
	added = $state.raw<ReadonlySet<number>>(new Set());
	readonly numbers = $derived(new Set(this.evidence.map((item) => item.number)));
	/** By which the service knows the run; empty until it has named it. */
	get id(): string {
		return this.#runId;
	}
	readonly isOver = $derived(!['running', 'reconnecting'].includes(this.state));
	readonly mode = $derived(this.answer?.mode ?? (this.claims.some((c) => c.is_quotation) ? 'quotations' : null));

	#path: string;
	#body: unknown;
	#runId = '';
	#stopper = new AbortController();

	constructor(path: string, body: unknown) {
		this.#path = path;
		this.#body = body;
	}

	/**
	 * A run that outlives the component which starts it: the selection may show it when its component is gone. What a
	 * run derives would otherwise be the component's, and go stale with it.
	 */
	static outliving(path: string, body: unknown): Run {
		let run: Run | undefined;
		$effect.root(() => {
			run = new Run(path, body);
		});
		// Without a browser there are no effects, and no component to go stale with.
		return run ?? new Run(path, body);
	}

	/** Send the request and follow its events to the end. Never throws: how it ended is in `state`. */
	async follow(options: Partial<StreamOptions> = {}): Promise<void> {
		await this.#follow(runEvents(this.#path, this.#body, this.#options(options)));
	}

	/** Take up a run again that was going on when the page was left; its events come anew, from the first. */
	async resume(options: Partial<StreamOptions> = {}): Promise<void> {
		if (this.isOver) return;
		await this.#follow(laterEvents(this.#runId, this.#options(options)));
	}

	#options(options: Partial<StreamOptions>): StreamOptions {
		return {
			...options,
			signal: this.#stopper.signal,
			onRequestId: (requestId) => {
				this.requestId = requestId;
			},
			onRunId: (runId) => {
				this.#runId = runId;
			},
			onReconnecting: (isReconnecting) => {
				if (!this.isOver) this.state = isReconnecting ? 'reconnecting' : 'running';
			},
		};
	}

	async #follow(stream: AsyncGenerator<RunMessage>): Promise<void> {
		try {
			for await (const message of stream) {
				if (this.isOver) return;
				this.apply(message);
			}
		} catch (thrown) {
			// A page that is being left loses its connections first: it has gone by then, and that is no news to keep.
			if (!(thrown instanceof ApiError)) await new Promise((resolve) => setTimeout(resolve, leavingMs));
			if (this.isOver) return;
			this.#broken(thrown);
		}
	}

	/** Take in one event. Types that this page does not know are ignored. */
	apply(message: RunMessage): void {
		switch (message.type) {
			case 'run':
				this.#begin(message.run_id);
				break;
			case 'stage':
				this.stage = { name: message.name, done: message.done, total: message.total };
				break;
			case 'evidence':
				this.evidence = message.evidence;
				this.search = message.search;
				break;
			case 'evidence_added':
				this.evidence = [...this.evidence, ...message.evidence];
				this.added = new Set([...this.added, ...message.evidence.map((item) => item.number)]);
				break;
			case 'text':
				this.text += message.delta;
				break;
			case 'claim':
				this.claims = [...this.claims.filter((claim) => claim.id !== message.claim.id), message.claim];
				break;
			case 'verdict': {
				const { verdict } = message;
				this.verdicts = [...this.verdicts.filter((other) => other.claim_id !== verdict.claim_id), verdict];
				break;
			}
			case 'finished':
				this.#finish(message.answer);
				break;
			case 'incomplete':
				this.text = message.text || this.text;
				this.error = message.error;
				this.reason = message.reason;
				this.state = 'incomplete';
				break;
			case 'cancelled':
				this.state = 'cancelled';
				break;
			case 'error':
				this.error = message.error;
				this.state = 'failed';
				break;
		}
	}

	/** Stop the run, here at once and in the service as soon as it hears of it. What was written stays. */
	stop(): void {
		if (this.isOver) return;
		this.state = 'cancelled';
		this.#stopper.abort();
		if (this.#runId) cancelRun(this.#runId).catch(() => undefined);
	}

	/** The run as it can be kept. */
	toStored(): StoredRun {
		const { text: _, search: _search, claims: _claims, verdicts: _verdicts, evidence: _evidence, ...rest } = this.answer ?? {};
		const records = new Map(this.evidence.map((item) => [sourceIdOf(item.record), item.record]));
		return {
			state: this.state === 'reconnecting' ? 'running' : this.state,
			runId: this.#runId,
			text: this.text,
			search: this.search,
			claims: this.claims,
			verdicts: this.verdicts,
			evidence: this.evidence.map(({ record, ...item }) => (record.document ? { ...item, document: record.document } : item)),
			added: [...this.added],
			records: [...records.values()],
			answer: this.answer && (rest as NonNullable<StoredRun['answer']>),
			error: this.error,
			reason: this.reason,
			requestId: this.requestId,
		};
	}

	/** Take the run's place as it was kept. One that was not over can be resumed. */
	restore(kept: StoredRun): void {
		const records = new Map(kept.records.map((record) => [sourceIdOf(record), record]));
		const evidence = kept.evidence.flatMap(({ document, ...item }): EvidenceOut[] => {
			const record = records.get(document || item.pmid);
			return record ? [{ ...item, record }] : [];
		});
		const { text, search, claims, verdicts } = kept;
		Object.assign(this, { text, search, claims, verdicts, evidence, error: kept.error, reason: kept.reason });
		this.added = new Set(kept.added ?? []);
		this.#runId = kept.runId;
		this.requestId = kept.requestId ?? '';
		if (kept.answer && search) this.answer = { ...kept.answer, text, search, claims, verdicts, evidence };
		this.state = kept.state === 'running' ? 'reconnecting' : kept.state;
		if (!this.isOver && !this.#runId) {
			this.reason = 'The page was left before the service had begun.';
			this.state = 'incomplete';
		}
	}

	#begin(runId: string): void {
		this.#runId = runId;
		this.state = 'running';
		// A run that is taken up after a reload tells everything again.
		this.text = '';
		this.evidence = [];
		this.added = new Set();
		this.search = null;
		this.claims = [];
		this.verdicts = [];
	}

	#finish(answer: AnswerOut): void {
		this.answer = answer;
		this.text = answer.text;
		this.evidence = answer.evidence;
		this.search = answer.search;
		this.claims = answer.claims;
		this.verdicts = answer.verdicts;
		this.state = 'finished';
	}

	#broken(thrown: unknown): void {
		if (this.#runId) {
			this.reason =
				thrown instanceof ConnectionLost
					? 'The connection to medcite broke and could not be taken up again.'
					: 'The service sent something that this page cannot read.';
			this.state = 'incomplete';
			return;
		}
		this.error = shownError(thrown);
		this.state = 'failed';
	}
}
