// The service counts Unicode code points, JavaScript counts UTF-16 units: the one place where the two meet.
import type { SpanOut } from './events';

/** A text that can be cut by the service's spans. */
export class CodePointText {
	readonly text: string;
	/** UTF-16 offset of each code point, and of the end; undefined while every character takes one unit. */
	#offsets: Uint32Array | undefined;
	/** Length in code points. */
	readonly length: number;

	constructor(text: string) {
		this.text = text;
		if (!/[\uD800-\uDFFF]/.test(text)) {
			this.length = text.length;
			return;
		}
		const offsets: number[] = [];
		let unit = 0;
		for (const character of text) {
			offsets.push(unit);
			unit += character.length;
		}
		this.length = offsets.length;
		offsets.push(unit);
		this.#offsets = Uint32Array.from(offsets);
	}

	/** The UTF-16 offset of a code point; places outside the text are moved to its ends. */
	unit(codePoint: number): number {
		const at = Math.min(Math.max(codePoint, 0), this.length);
		return this.#offsets ? (this.#offsets[at] ?? this.text.length) : at;
	}

	/** The words of a span. */
	slice(span: SpanOut): string {
		return this.text.slice(this.unit(span.start), this.unit(span.end));
	}
}

/** How many code points a text has: what the service's limits count. */
export function codePointLength(text: string): number {
	return new CodePointText(text).length;
}
