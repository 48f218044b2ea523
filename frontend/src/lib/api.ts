// The service's JSON endpoints, and its one shape of errors.
import type { ErrorOut } from './events';
import { fileNameOf } from './files';
import type { ListField } from './filters';
import type { YearCount } from './histogram';

/** An error in the service's words, or in ours when it could not be reached. */
export class ApiError extends Error {
	readonly details: ErrorOut;

	constructor(details: ErrorOut) {
		super(details.message);
		this.name = 'ApiError';
		this.details = details;
	}
}

export const unreachable: ErrorOut = {
	code: 'unreachable',
	message: 'The medcite service does not answer.',
	hint: 'Check that it is still running and that this computer reaches it, then try again.',
	retryable: true,
	request_id: '',
};

/** Read the error out of a response that is not a success. */
export async function errorOf(response: Response): Promise<ApiError> {
	try {
		const { error } = (await response.json()) as { error?: Partial<ErrorOut> };
		if (error?.message) {
			return new ApiError({
				code: error.code ?? 'unknown',
				message: error.message,
				hint: error.hint ?? '',
				retryable: error.retryable ?? response.status >= 500,
				request_id: error.request_id ?? response.headers.get('x-request-id') ?? '',
			});
		}
	} catch {
		// Not our JSON: something between the page and the service answered.
	}
	return new ApiError({
		code: `http_${response.status}`,
		message: `The service answered with status ${response.status} and no explanation.`,
		hint: 'Something between this page and medcite, such as a proxy, may have answered in its place. Try again.',
		retryable: response.status >= 500 || response.status === 429,
		request_id: response.headers.get('x-request-id') ?? '',
	});
}

/** Whatever was thrown, as an error that can be shown. */
export function shownError(thrown: unknown): ErrorOut {
	if (thrown instanceof ApiError) return thrown.details;
	return unreachable;
}

async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
	const response = await fetch(path, { signal, headers: { accept: 'application/json' } });
	if (!response.ok) throw await errorOf(response);
	return (await response.json()) as T;
}

export interface ExampleQuestion {
	question: string;
}

export interface WorkedExample {
	question?: string;
	/** An answer in which one sentence was altered. */
	text: string;
	/** PMIDs: `[n]` in `text` cites the n-th. */
	sources: string[];
	/** What was changed, in words. */
	altered?: { change?: string };
}

/** GET /api/corpus: what there is to ask, and with what; the parts of it that the page shows. */
export interface Corpus {
	name: string;
	records: number;
	embedder_state: 'ready' | 'loading' | 'failed';
	/** Empty when answers are made of quotations. */
	chat_model: string;
	example_questions: ExampleQuestion[];
	worked_example: WorkedExample | null;
	years: YearCount[];
}

/** A value of the corpus, and how many records have it. */
export interface Suggestion {
	value: string;
	records: number;
}

export interface ServerStatus {
	serverMessage: string;
	serverStatus: 'OK' | 'NOK';
}

export const getCorpus = (signal?: AbortSignal) => getJson<Corpus>('/api/corpus', signal);
export const getServerStatus = (signal?: AbortSignal) => getJson<ServerStatus>('/server_status', signal);

export async function getSuggestions(field: ListField, prefix: string, signal?: AbortSignal): Promise<Suggestion[]> {
	const query = new URLSearchParams({ field, prefix: prefix.slice(0, 100), limit: '8' });
	return (await getJson<{ values: Suggestion[] }>(`/api/suggestions?${query}`, signal)).values;
}

/** The report of a finished check, as a file. */
export async function getReport(runId: string, format: string): Promise<{ file: Blob; name: string }> {
	const response = await fetch(`/api/runs/${encodeURIComponent(runId)}/report?${new URLSearchParams({ format })}`);
	if (!response.ok) throw await errorOf(response);
	return { file: await response.blob(), name: fileNameOf(response, 'medcite-check') };
}

/** Cancel a run; that it is gone already is as good. */
export async function cancelRun(runId: string): Promise<void> {
	await fetch(`/api/runs/${encodeURIComponent(runId)}`, { method: 'DELETE', keepalive: true });
}
