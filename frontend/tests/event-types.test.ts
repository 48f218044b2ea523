import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { eventTypes } from '../scripts/event-types.mjs';

test("the page's types are those of the committed schema; if not, run `npm run types`", async () => {
	expect(await readFile('src/lib/events.d.ts', 'utf8')).toBe(await eventTypes());
});
