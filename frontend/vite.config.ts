import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

const service = 'http://127.0.0.1:8000';

export default defineConfig({
	plugins: [svelte()],
	// Svelte's browser build must be taken under vitest too, or components cannot be mounted.
	resolve: process.env.VITEST ? { conditions: ['browser'] } : {},
	server: {
		port: 5173,
		proxy: { '/api': service, '/server_status': service, '/healthz': service, '/readyz': service },
	},
	build: {
		target: 'es2022',
		assetsInlineLimit: 0,
		rolldownOptions: { input: ['index.html', '404.html'] },
		license: { fileName: 'third-party-licences.md' },
	},
	test: {
		environment: 'node',
		include: ['tests/**/*.test.ts'],
		setupFiles: ['tests/setup.ts'],
		restoreMocks: true,
	},
});
