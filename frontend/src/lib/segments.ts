// An answer's text as paragraphs of sentences of words and citation numbers, ready to be laid out as text nodes.
import { CodePointText } from './codepoints';
import type { ClaimOut } from './events';

export type Inline = { kind: 'words'; text: string } | { kind: 'citation'; number: number; isKnown: boolean };

/** A stretch of the answer: a claim, or words between claims (`claim` is null). */
export interface Segment {
	key: string;
	claim: ClaimOut | null;
	inlines: Inline[];
}

export type Paragraph = Segment[];

const citationMark = /\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]/g;
/** Citations and closing marks that stand behind a claim's span still belong to its sentence. */
const sentenceTail = /^(?:[ \t]*\[\d{1,3}(?:\s*[,;]\s*\d{1,3})*\])*[.!?…”"')\]]*/;

/** Words and citations of a text; a number that no evidence has is a citation that is not known. */
export function inlinesOf(text: string, known: ReadonlySet<number>): Inline[] {
	const inlines: Inline[] = [];
	let done = 0;
	for (const match of text.matchAll(citationMark)) {
		if (match.index > done) inlines.push({ kind: 'words', text: text.slice(done, match.index) });
		for (const digits of (match[1] ?? '').split(/[,;]/)) {
			const number = Number(digits);
			inlines.push({ kind: 'citation', number, isKnown: known.has(number) });
		}
		done = match.index + match[0].length;
	}
	if (done < text.length) inlines.push({ kind: 'words', text: text.slice(done) });
	return inlines;
}

interface Stretch {
	start: number;
	end: number;
	claim: ClaimOut | null;
}

/** Cut an answer into claims and what stands between them. Nothing is lost: the pieces add up to the text. */
function stretchesOf(text: string, claims: readonly ClaimOut[]): Stretch[] {
	const points = new CodePointText(text);
	const stretches: Stretch[] = [];
	let done = 0;
	for (const claim of [...claims].sort((a, b) => a.span.start - b.span.start || a.span.end - b.span.end)) {
		const start = Math.max(points.unit(claim.span.start), done);
		let end = points.unit(claim.span.end);
		if (end <= start) continue;
		if (start > done) stretches.push({ start: done, end: start, claim: null });
		end += sentenceTail.exec(text.slice(end))?.[0].length ?? 0;
		stretches.push({ start, end, claim });
		done = end;
	}
	if (done < text.length) stretches.push({ start: done, end: text.length, claim: null });
	return stretches;
}

/** Paragraphs end at line breaks; a claim that crosses one is continued in the next paragraph. */
export function paragraphsOf(text: string, claims: readonly ClaimOut[], known: ReadonlySet<number>): Paragraph[] {
	const paragraphs: Paragraph[] = [];
	let paragraph: Paragraph = [];
	for (const { start, end, claim } of stretchesOf(text, claims)) {
		const lines = text.slice(start, end).split('\n');
		lines.forEach((line, index) => {
			if (index > 0 && paragraph.length) {
				paragraphs.push(paragraph);
				paragraph = [];
			}
			if (line.trim() === '' && (claim === null || lines.length > 1)) {
				// A space between two sentences stays; blank lines are what separates paragraphs.
				if (line && paragraph.length) paragraph.push(segment(start, index, null, line, known));
				return;
			}
			paragraph.push(segment(start, index, claim, line, known));
		});
	}
	if (paragraph.length) paragraphs.push(paragraph);
	return paragraphs;
}

function segment(
	start: number,
	line: number,
	claim: ClaimOut | null,
	text: string,
	known: ReadonlySet<number>,
): Segment {
	return { key: `${start}.${line}`, claim, inlines: inlinesOf(text, known) };
}

/** A segment's inlines parted before its last word, so that a mark never begins a line without a word of its sentence.
 *
 * With more than four citations at the end the tail is empty: it would be too wide for a narrow screen.
 */
export function partTail(inlines: readonly Inline[]): { body: Inline[]; tail: Inline[] } {
	for (let at = inlines.length - 1; at >= 0; at--) {
		const inline = inlines[at] as Inline;
		if (inlines.length - at > 9) break;
		if (inline.kind === 'citation') continue;
		const match = /\S{1,24}\s*$/.exec(inline.text);
		if (!match || !/[\p{L}\p{N}]/u.test(match[0])) continue;
		const body = inlines.slice(0, at);
		if (match.index > 0) body.push({ kind: 'words', text: inline.text.slice(0, match.index) });
		return { body, tail: [{ kind: 'words', text: match[0] }, ...inlines.slice(at + 1)] };
	}
	return { body: [...inlines], tail: [] };
}

/** The evidence numbers that a text cites, each once. */
export function citedIn(text: string): Set<number> {
	return new Set(inlinesOf(text, new Set()).flatMap((inline) => (inline.kind === 'citation' ? [inline.number] : [])));
}

/** Whether a segment is the last of its claim, where the claim's mark stands. */
export function isLastOfClaim(paragraphs: readonly Paragraph[], segment: Segment): boolean {
	const all = paragraphs.flat().filter((other) => other.claim?.id === segment.claim?.id);
	return all.at(-1)?.key === segment.key;
}
