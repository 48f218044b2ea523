// Server-sent events from bytes, cut anywhere. https://html.spec.whatwg.org/multipage/server-sent-events.html

export interface ServerSentEvent {
	/** The last `id:` seen, as `Last-Event-ID` wants it. */
	id: string;
	event: string;
	data: string;
}

/** Feed it bytes as they arrive; it gives back the events they complete. An event cut by the end of a stream is none. */
export class EventStreamParser {
	#decoder = new TextDecoder('utf-8');
	#rest = '';
	#id = '';
	#event = '';
	#data: string[] = [];

	feed(bytes: Uint8Array): ServerSentEvent[] {
		this.#rest += this.#decoder.decode(bytes, { stream: true });
		const events: ServerSentEvent[] = [];
		let start = 0;
		// Only CR, LF and CRLF end a line here: U+2028 and U+0085 are ordinary characters of the text.
		for (;;) {
			const end = nextLineEnd(this.#rest, start);
			if (end === -1) break;
			const isCarriageReturn = this.#rest[end] === '\r';
			// A CR that is the last character so far may be the first half of a CRLF.
			if (isCarriageReturn && end + 1 === this.#rest.length) break;
			const event = this.#line(this.#rest.slice(start, end));
			if (event) events.push(event);
			start = end + (isCarriageReturn && this.#rest[end + 1] === '\n' ? 2 : 1);
		}
		this.#rest = this.#rest.slice(start);
		return events;
	}

	#line(line: string): ServerSentEvent | undefined {
		if (line === '') {
			const event = this.#data.length
				? { id: this.#id, event: this.#event || 'message', data: this.#data.join('\n') }
				: undefined;
			this.#data = [];
			this.#event = '';
			return event;
		}
		const colon = line.indexOf(':');
		const field = colon === -1 ? line : line.slice(0, colon);
		let value = colon === -1 ? '' : line.slice(colon + 1);
		if (value.startsWith(' ')) value = value.slice(1);
		if (field === 'data') this.#data.push(value);
		else if (field === 'event') this.#event = value;
		else if (field === 'id' && !value.includes('\0')) this.#id = value;
		return undefined;
	}
}

function nextLineEnd(text: string, from: number): number {
	for (let i = from; i < text.length; i++) {
		const code = text.charCodeAt(i);
		if (code === 10 || code === 13) return i;
	}
	return -1;
}
