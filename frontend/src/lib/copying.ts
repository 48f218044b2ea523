// An answer as text to paste elsewhere: its words, how they were checked, and its references with PMIDs and links.
import type { Run } from '../state/run.svelte';
import { authorsSentence, isGrave, type Reference, referencesOf, sourceLine } from './references';
import { citedIn } from './segments';
import { countVerdicts, groundednessLine, verdictWords } from './verdicts';

export interface Copied {
	text: string;
	html: string;
}

/** The numbers are those on the screen, so one record may stand under several. */
export function copiedAnswer(question: string, run: Run): Copied {
	const references = referencesOf(run.evidence, citedIn(run.text)).filter(({ isCited }) => isCited);
	const notes = notesOn(run);
	const text = [
		question,
		run.text.trim(),
		notes.join('\n'),
		references.length && ['References', ...references.map(referenceText)].join('\n'),
	];
	const html = [
		`<p><strong>${escaped(question)}</strong></p>`,
		...run.text.trim().split(/\n+/).map((paragraph) => `<p>${escaped(paragraph)}</p>`),
		notes.length && `<p>${notes.map(escaped).join('<br>')}</p>`,
		references.length && `<p>References</p>${references.map((one) => `<p>${referenceHtml(one)}</p>`).join('')}`,
	];
	return { text: `${text.filter(Boolean).join('\n\n')}\n`, html: html.filter(Boolean).join('') };
}

/** What must not be lost on the way: that it is a part, and every sentence that was not found supported. */
function notesOn(run: Run): string[] {
	const notes: string[] = [];
	if (run.state !== 'finished') notes.push('This answer is incomplete.');
	if (run.mode === 'quotations') notes.push('Quotations: words of the sources, no summary.');
	else if (run.claims.length) notes.push(`Checked by medcite: ${groundednessLine(countVerdicts(run.claims, run.verdicts))}.`);
	for (const claim of run.claims) {
		const label = run.verdictOf.get(claim.id)?.label ?? 'unchecked';
		if (label !== 'supported') notes.push(`${verdictWords[label]}: “${claim.text.trim()}”`);
	}
	return notes;
}

function parts({ record, numbers }: Reference) {
	const status = isGrave(record.status) ? ` [${record.status_text}]` : '';
	const title = /[.?!]$/.test(record.title) ? record.title : `${record.title}.`;
	return {
		numbers: numbers.map((number) => `[${number}]`).join(' '),
		words: [authorsSentence(record), title, `${sourceLine(record)}.${status}`].filter((part) => part !== '.').join(' '),
		pmid: `PMID: ${record.pmid}.`,
	};
}

function referenceText(reference: Reference): string {
	const { numbers, words, pmid } = parts(reference);
	return [numbers, words, pmid, ...linksOf(reference)].join(' ');
}

function referenceHtml(reference: Reference): string {
	const { numbers, words, pmid } = parts(reference);
	const links = linksOf(reference).map((url) => `<a href="${escaped(url)}">${escaped(url)}</a>`);
	return [escaped(numbers), escaped(words), escaped(pmid), ...links].join(' ');
}

function linksOf({ record }: Reference): string[] {
	return [record.pubmed_url, record.doi_url].filter((url) => url.startsWith('https://'));
}

function escaped(text: string): string {
	return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** Put it on the clipboard, formatted where the browser can; false when it refuses. */
export async function toClipboard({ text, html }: Copied): Promise<boolean> {
	try {
		if (typeof ClipboardItem !== 'undefined' && navigator.clipboard?.write) {
			const types = { 'text/plain': text, 'text/html': html };
			const blobs = Object.entries(types).map(([type, words]) => [type, new Blob([words], { type })] as const);
			await navigator.clipboard.write([new ClipboardItem(Object.fromEntries(blobs))]);
			return true;
		}
		if (navigator.clipboard) {
			await navigator.clipboard.writeText(text);
			return true;
		}
	} catch {
		// Refused, or not in this form: the old way may still do.
	}
	return copiedByHand(text);
}

/** Without https a browser has no clipboard of its own, but it still copies what is selected. */
function copiedByHand(text: string): boolean {
	const area = document.createElement('textarea');
	area.value = text;
	area.style.position = 'fixed';
	const focused = document.activeElement;
	document.body.append(area);
	area.select();
	const isCopied = document.execCommand('copy');
	area.remove();
	if (focused instanceof HTMLElement) focused.focus();
	return isCopied;
}
