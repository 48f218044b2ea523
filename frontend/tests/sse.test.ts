import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { EventStreamParser } from '../src/lib/sse';

const input = (name: string) => readFileSync(`tests/inputs/${name}`);
const bytes = (text: string) => new TextEncoder().encode(text);

function dataOf(pieces: readonly Uint8Array[]): string[] {
	const parser = new EventStreamParser();
	return pieces.flatMap((piece) => parser.feed(piece)).map((event) => event.data);
}

function cutEverywhere(stream: Uint8Array): Uint8Array[][] {
	return Array.from({ length: stream.length + 1 }, (_, at) => [stream.subarray(0, at), stream.subarray(at)]);
}

test('FR-126: multi-byte characters across reads, CRLF, and data: without a space lose nothing', () => {
	const { chunks_hex, expected } = JSON.parse(input('FR-126-chunks.json').toString());
	expect(dataOf(chunks_hex.map((hex: string) => Buffer.from(hex, 'hex'))).join('')).toBe(expected);
});

test('FR-126: its bytes one at a time give the same text', () => {
	const { chunks_hex, expected } = JSON.parse(input('FR-126-chunks.json').toString());
	const whole = Buffer.from(chunks_hex.join(''), 'hex');
	expect(dataOf([...whole].map((byte) => Uint8Array.of(byte))).join('')).toBe(expected);
});

test('FR-127: a stream cut at any byte gives the same events', () => {
	const stream = input('FR-127-stream.txt');
	const expected = ['{"t":"Mortality fell "}', '{"t":"from 18.4% to 12.1%."}', '[DONE]'];
	for (const pieces of cutEverywhere(stream)) expect(dataOf(pieces)).toEqual(expected);
});

test('FR-128: U+2028, U+0085 and line breaks inside a text do not break its event', () => {
	const { tokens } = JSON.parse(input('FR-128-tokens.json').toString()) as { tokens: string[] };
	const stream = bytes(tokens.map((t) => `data: ${JSON.stringify({ t })}\n\n`).join(''));
	for (const pieces of cutEverywhere(stream)) {
		expect(dataOf(pieces).map((data) => JSON.parse(data).t)).toEqual(tokens);
	}
});

test.each(['\n', '\r\n', '\r'])(
	'line ends %j give ids, types and data of several lines, wherever they are cut',
	(end) => {
		const lines = [': heartbeat', '', 'id: 7', 'event: text', 'data: α', 'data:β', '', 'data: second', '', 'x', ''];
		for (const pieces of cutEverywhere(bytes(lines.join(end)))) {
			const parser = new EventStreamParser();
			expect(pieces.flatMap((piece) => parser.feed(piece))).toEqual([
				{ id: '7', event: 'text', data: 'α\nβ' },
				{ id: '7', event: 'message', data: 'second' },
			]);
		}
	},
);

test('an event without its closing blank line is none: the stream was cut', () => {
	expect(dataOf([bytes('data: whole\n\ndata: half')])).toEqual(['whole']);
});

test('only one space after the colon belongs to the format', () => {
	expect(dataOf([bytes('data:  two\n\ndata\n\n')])).toEqual([' two', '']);
});
