// Conversations as this browser keeps them: a versioned shape, read with care, and small enough to fit.
import type { AnswerOut, ClaimOut, ErrorOut, EvidenceOut, RecordOut, SearchReportOut, VerdictOut } from './events';
import type { SearchFilter } from './filters';

/** Another version is another shape: what is kept in it is left alone and not shown. */
export const storedVersion = 1;
/** All conversations together, in characters. Browsers give an origin about five million. */
export const maxStoredChars = 3_000_000;
export const maxConversations = 30;

/** A record goes by its PMID, a document by its id. */
export function sourceIdOf(record: RecordOut): string {
	return record.document || record.pmid;
}

export type StoredState = 'running' | 'finished' | 'incomplete' | 'cancelled' | 'failed';
const states: readonly string[] = ['running', 'finished', 'incomplete', 'cancelled', 'failed'];

export interface StoredRun {
	/** `running`: it was not over when it was kept. */
	state: StoredState;
	runId: string;
	text: string;
	search: SearchReportOut | null;
	claims: ClaimOut[];
	verdicts: VerdictOut[];
	/** Evidence without its records, which many passages share. */
	evidence: (Omit<EvidenceOut, 'record'> & { document?: string })[];
	/** Numbers of the passages that the checker found; missing in what an earlier page kept. */
	added?: number[];
	records: RecordOut[];
	/** What only a finished answer has. */
	answer: Omit<AnswerOut, 'text' | 'search' | 'claims' | 'verdicts' | 'evidence'> | null;
	error: ErrorOut | null;
	reason: string;
	/** Missing in what an earlier page kept. */
	requestId?: string;
}

export interface StoredTurn {
	question: string;
	filter: SearchFilter;
	standsAlone: boolean;
	run: StoredRun;
}

export interface StoredConversation {
	version: typeof storedVersion;
	savedAt: number;
	/** Questions at the beginning that were dropped to save space. */
	dropped: number;
	turns: StoredTurn[];
}

/** Read what was kept; null when it is of another version or no conversation. A turn that cannot be read is dropped. */
export function readConversation(text: string): StoredConversation | null {
	let kept: Partial<StoredConversation> | null;
	try {
		kept = JSON.parse(text) as Partial<StoredConversation> | null;
	} catch {
		return null;
	}
	if (kept?.version !== storedVersion || !Array.isArray(kept.turns)) return null;
	const turns = kept.turns.filter(isTurn);
	return {
		version: storedVersion,
		savedAt: Number(kept.savedAt) || 0,
		dropped: (Number(kept.dropped) || 0) + kept.turns.length - turns.length,
		turns,
	};
}

function isTurn(turn: StoredTurn): boolean {
	const run = turn?.run;
	return (
		typeof turn?.question === 'string' &&
		isObject(turn.filter) &&
		isObject(run) &&
		states.includes(run.state) &&
		typeof run.text === 'string' &&
		typeof run.runId === 'string' &&
		[run.claims, run.verdicts, run.evidence, run.records].every((list) => Array.isArray(list) && list.every(isObject)) &&
		(run.state !== 'finished' || (isObject(run.answer) && isObject(run.search)))
	);
}

function isObject(value: unknown): boolean {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The conversation as text of at most `maxChars`: the oldest questions are left out, and counted. */
export function writeConversation(
	conversation: StoredConversation,
	maxChars = maxStoredChars,
): { text: string; leftOut: number } {
	const sizes = conversation.turns.map((turn) => JSON.stringify(turn).length + 1);
	let chars = sizes.reduce((sum, size) => sum + size, 200);
	let leftOut = 0;
	// The newest question stays, however long it is: the browser decides about that one.
	while (chars > maxChars && leftOut < sizes.length - 1) chars -= sizes[leftOut++] ?? 0;
	const dropped = conversation.dropped + leftOut;
	const text = JSON.stringify({ ...conversation, dropped, turns: conversation.turns.slice(leftOut) });
	return { text, leftOut };
}

export interface KeptText {
	key: string;
	savedAt: number;
	chars: number;
}

/** Which of the other conversations must go so that this one fits: the oldest first. */
export function tooOld(
	others: readonly KeptText[],
	newChars: number,
	maxChars = maxStoredChars,
	maxCount = maxConversations,
): string[] {
	const gone: string[] = [];
	const oldestFirst = [...others].sort((a, b) => a.savedAt - b.savedAt);
	let chars = oldestFirst.reduce((sum, other) => sum + other.chars, newChars);
	for (const [place, other] of oldestFirst.entries()) {
		if (chars <= maxChars && oldestFirst.length - place < maxCount) break;
		gone.push(other.key);
		chars -= other.chars;
	}
	return gone;
}

/** "just now", "5 minutes ago", "yesterday", a date. */
export function whenWords(then: number, now: number): string {
	const minutes = Math.floor((now - then) / 60_000);
	if (minutes < 1) return 'just now';
	if (minutes < 60) return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'} ago`;
	const hours = Math.floor(minutes / 60);
	if (hours < 24) return `${hours} ${hours === 1 ? 'hour' : 'hours'} ago`;
	if (hours < 48) return 'yesterday';
	return new Date(then).toLocaleDateString('en', { day: 'numeric', month: 'long', year: 'numeric' });
}
