// The filter form's state: off, nothing is sent, whatever the fields hold.
import { addKeywords, filterProblems, type SearchFilter, toSearchFilter } from '../lib/filters';

export class FilterState {
	isOn = $state(false);
	isExpanded = $state(false);
	yearFrom = $state('');
	yearTo = $state('');
	title = $state('');
	keywords = $state<string[]>([]);

	readonly problems = $derived(filterProblems(this.#form()));
	readonly isValid = $derived(!this.isOn || Object.keys(this.problems).length === 0);
	/** What goes with the next question. */
	readonly filter = $derived.by((): SearchFilter => (this.isOn ? toSearchFilter(this.#form()) : {}));

	#form() {
		return { yearFrom: this.yearFrom, yearTo: this.yearTo, title: this.title, keywords: this.keywords };
	}

	/** Switch the filter; switched on, its fields are shown. */
	toggle(): void {
		this.isOn = !this.isOn;
		this.isExpanded = this.isOn;
	}

	addKeywords(typed: string): void {
		this.keywords = addKeywords(this.keywords, typed);
	}

	removeKeyword(keyword: string): void {
		this.keywords = this.keywords.filter((other) => other !== keyword);
	}

	clear(): void {
		this.yearFrom = this.yearTo = this.title = '';
		this.keywords = [];
	}
}
