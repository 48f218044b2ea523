// The filter form's state: off, nothing is sent, whatever the fields hold. It lives in the page's address.
import { filterIn, filterParameters } from '../lib/filteraddress';
import {
	addTyped,
	addValue,
	emptyForm,
	type FilterForm,
	filterProblems,
	type ListField,
	listFields,
	type SearchFilter,
	toSearchFilter,
} from '../lib/filters';
import type { YearCount } from '../lib/histogram';

export class FilterState {
	isOn = $state(false);
	isExpanded = $state(false);
	form = $state<FilterForm>(emptyForm());
	/** Records per year in the corpus, to choose from. */
	years = $state.raw<readonly YearCount[]>([]);
	/** What the address held that could not be read. */
	notes = $state.raw<string[]>([]);

	readonly problems = $derived(filterProblems(this.form));
	readonly isValid = $derived(!this.isOn || Object.keys(this.problems).length === 0);
	/** Whether the fields hold anything, sent or not. */
	readonly isSet = $derived(Object.keys(toSearchFilter(this.form)).length > 0);
	/** Filled in, and not applied, which a reader must not overlook. */
	readonly isIdle = $derived(this.isSet && !this.isOn);
	/** What goes with the next question. */
	readonly filter = $derived.by((): SearchFilter => (this.isOn ? toSearchFilter(this.form) : {}));
	readonly parameters = $derived(filterParameters(this.form, this.isOn));
	/** How many of the fields behind "more" are set. */
	readonly moreSet = $derived(
		listFields.filter((field) => field !== 'keywords' && this.form[field].length).length +
			Number(this.form.has_pmcid) +
			Number(this.form.exclude_retracted),
	);

	constructor(search = '') {
		this.read(search);
	}

	/** Take the filter from an address's query. What needs a look is shown. */
	read(search: string): void {
		const { form, isOn, notes } = filterIn(search);
		this.form = form;
		this.isOn = isOn;
		this.notes = notes;
		if (notes.length || !this.isValid) this.isExpanded = true;
	}

	/** Follow the browser's back and forward buttons; returns what stops it. */
	watch(): () => void {
		const onMove = () => this.read(location.search);
		addEventListener('popstate', onMove);
		return () => removeEventListener('popstate', onMove);
	}

	/** Switch the filter; switched on, its fields are shown. */
	toggle(): void {
		this.isOn = !this.isOn;
		this.isExpanded = this.isOn;
	}

	/** Apply what is filled in. */
	switchOn(): void {
		this.isOn = true;
	}

	/** Add one value as it stands. */
	add(field: ListField, value: string): void {
		this.form[field] = addValue(this.form[field], value);
	}

	/** Add what was typed, which may be several values. */
	addTyped(field: ListField, typed: string, known: readonly string[] = []): void {
		this.form[field] = addTyped(this.form[field], typed, field, known);
	}

	remove(field: ListField, value: string): void {
		this.form[field] = this.form[field].filter((other) => other !== value);
	}

	/** Set the range of years; an empty one filters nothing. */
	setYears(from: number | null, to: number | null): void {
		this.form.yearFrom = from === null ? '' : String(from);
		this.form.yearTo = to === null ? '' : String(to);
	}

	clear(): void {
		this.form = emptyForm();
		this.notes = [];
	}
}
