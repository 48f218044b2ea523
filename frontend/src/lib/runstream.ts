// The events of one run, from its request to its last event, over as many connections as that takes.
import { errorOf } from './api';
import type { RunMessage } from './events';
import { EventStreamParser } from './sse';

const finalTypes: readonly string[] = ['finished', 'incomplete', 'cancelled', 'error'];

export interface StreamOptions {
	signal: AbortSignal;
	/** Called with true when the connection is lost and sought again, with false when it is back. */
	onReconnecting?: (isReconnecting: boolean) => void;
	/** Called with the number by which the service's log knows the request. */
	onRequestId?: (requestId: string) => void;
	/** Called with the run's id as soon as the service names it, which is before the first event. */
	onRunId?: (runId: string) => void;
	/** Longest silence, in ms. The service sends a heartbeat at least every 60 s. */
	maxSilenceMs?: number;
	/** Waits before each attempt to resume, in ms; together within the 15 s that a run goes on unwatched. */
	resumeWaitsMs?: readonly number[];
}

/** The stream broke and could not be resumed; what came so far is all there is. */
export class ConnectionLost extends Error {
	override name = 'ConnectionLost';
}

/** Post `body` and yield the run's events up to its final one.
 *
 * Throws `ApiError` when the service refuses, `ConnectionLost` when the stream ends early and cannot be resumed.
 */
export async function* runEvents(path: string, body: unknown, options: StreamOptions): AsyncGenerator<RunMessage> {
	const response = await fetch(path, {
		method: 'POST',
		headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
		body: JSON.stringify(body),
		signal: options.signal,
	});
	options.onRequestId?.(response.headers.get('x-request-id') ?? '');
	const runId = response.headers.get('x-run-id') ?? '';
	if (runId) options.onRunId?.(runId);
	yield* allEvents(response, runId, options);
}

/** Yield the events of a run that was begun before, from its first one, up to its final one.
 *
 * Throws `ConnectionLost` when the run is not there any more.
 */
export async function* laterEvents(runId: string, options: StreamOptions): AsyncGenerator<RunMessage> {
	yield* allEvents(null, runId, options);
}

async function* allEvents(first: Response | null, known: string, options: StreamOptions): AsyncGenerator<RunMessage> {
	const waits = options.resumeWaitsMs ?? [200, 600, 1200, 2400, 4000, 5000];
	let runId = known;
	let lastId = '';
	let attempt = 0;
	let response = first ?? (await resumed());
	for (;;) {
		if (!response.ok) throw await errorOf(response);
		if (!response.headers.get('content-type')?.startsWith('text/event-stream')) throw await errorOf(response);
		try {
			for await (const { id, data } of serverEvents(response, options)) {
				// After a resume the service may repeat what was seen already.
				if (id && isSeen(id, lastId)) continue;
				if (id) lastId = id;
				attempt = 0;
				const message = JSON.parse(data) as RunMessage;
				if (message.type === 'run') runId = message.run_id;
				yield message;
				if (finalTypes.includes(message.type)) return;
			}
		} catch (error) {
			if (options.signal.aborted || error instanceof SyntaxError) throw error;
		}
		if (!runId) throw new ConnectionLost('the connection broke before the run began');
		options.onReconnecting?.(true);
		response = await resumed();
		options.onReconnecting?.(false);
	}

	async function resumed(): Promise<Response> {
		while (attempt < waits.length) {
			await pause(waits[attempt++] ?? 0, options.signal);
			try {
				const again = await fetch(`/api/runs/${encodeURIComponent(runId)}/events`, {
					headers: { accept: 'text/event-stream', ...(lastId && { 'last-event-id': lastId }) },
					signal: options.signal,
				});
				if (again.ok) return again;
				if (again.status === 404 || again.status === 410) break;
				// Any other answer, such as a proxy's 502, may pass.
			} catch (error) {
				if (options.signal.aborted) throw error;
			}
		}
		throw new ConnectionLost('the connection broke and the run could not be resumed');
	}
}

async function* serverEvents(response: Response, options: StreamOptions) {
	const reader = response.body?.getReader();
	if (!reader) return;
	const parser = new EventStreamParser();
	try {
		for (;;) {
			const chunk = await inTime(reader.read(), options);
			if (chunk.done) return;
			yield* parser.feed(chunk.value);
		}
	} finally {
		reader.cancel().catch(() => undefined);
	}
}

/** A read that is given up when it takes too long or the run is stopped. */
function inTime<T>(read: Promise<T>, { signal, maxSilenceMs = 75_000 }: StreamOptions): Promise<T> {
	return new Promise((resolve, reject) => {
		const stop = () => reject(signal.reason);
		const timer = setTimeout(() => reject(new ConnectionLost('the stream fell silent')), maxSilenceMs);
		signal.addEventListener('abort', stop, { once: true });
		read.then(resolve, reject).finally(() => {
			clearTimeout(timer);
			signal.removeEventListener('abort', stop);
		});
	});
}

function isSeen(id: string, lastId: string): boolean {
	if (lastId === '') return false;
	const [now, before] = [Number(id), Number(lastId)];
	return Number.isInteger(now) && Number.isInteger(before) ? now <= before : id === lastId;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
	return new Promise((resolve, reject) => {
		const timer = setTimeout(resolve, ms);
		signal.addEventListener(
			'abort',
			() => {
				clearTimeout(timer);
				reject(signal.reason);
			},
			{ once: true },
		);
	});
}
