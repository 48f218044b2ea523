// Light, dark, or as the system has it; public/theme.js applies the stored choice before the first paint.

const key = 'medcite-theme';

export class Theme {
	#system = window.matchMedia?.('(prefers-color-scheme: dark)');
	#systemIsDark = $state(this.#system?.matches ?? false);
	#chosen = $state(document.documentElement.dataset.theme ?? '');

	readonly isDark = $derived(this.#chosen ? this.#chosen === 'dark' : this.#systemIsDark);

	constructor() {
		this.#system?.addEventListener('change', (event) => {
			this.#systemIsDark = event.matches;
		});
	}

	toggle(): void {
		const next = this.isDark ? 'light' : 'dark';
		// What the system has anyway is no choice: the page then follows the system again.
		this.#chosen = (next === 'dark') === this.#systemIsDark ? '' : next;
		if (this.#chosen) document.documentElement.dataset.theme = this.#chosen;
		else delete document.documentElement.dataset.theme;
		try {
			if (this.#chosen) localStorage.setItem(key, this.#chosen);
			else localStorage.removeItem(key);
		} catch {
			// Without storage the choice lasts as long as the page.
		}
	}
}
