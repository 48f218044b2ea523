// Writes src/lib/events.d.ts from events.schema.json, which scripts/export_event_types.py takes from the service.
import { readFile, writeFile } from 'node:fs/promises';
import { compile } from 'json-schema-to-typescript';

const root = new URL('../', import.meta.url);

/** The TypeScript declarations of the service's events, as text. */
export async function eventTypes() {
	const schema = JSON.parse(await readFile(new URL('events.schema.json', root), 'utf8'));
	return compile(schema, 'RunMessage', {
		additionalProperties: false,
		bannerComment: '// Generated from events.schema.json by `npm run types`; do not edit.',
		style: { useTabs: true, singleQuote: true, printWidth: 120 },
	});
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
	await writeFile(new URL('src/lib/events.d.ts', root), await eventTypes());
}
