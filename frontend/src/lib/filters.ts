// The filter form: what was typed, whether it can be sent, and what is sent.

/** Fields that hold several values, by the service's names for them. */
export const listFields = ['keywords', 'journal', 'author', 'publication_types', 'languages'] as const;
export type ListField = (typeof listFields)[number];
export const flagFields = ['has_pmcid', 'exclude_retracted'] as const;
export type FlagField = (typeof flagFields)[number];

export interface FilterForm extends Record<ListField, string[]>, Record<FlagField, boolean> {
	yearFrom: string;
	yearTo: string;
	title: string;
}

export interface SearchFilter extends Partial<Record<ListField, string[]>>, Partial<Record<FlagField, boolean>> {
	year_from?: number;
	year_to?: number;
	title?: string;
}

export type FilterProblems = Partial<Record<'yearFrom' | 'yearTo' | 'title' | ListField, string>>;

// The limits of the service's SearchFilter.
const firstYear = 1500;
const lastYear = 2200;
const maxChars = 300;
const maxValues = 50;

export const emptyForm = (): FilterForm => ({
	yearFrom: '',
	yearTo: '',
	title: '',
	keywords: [],
	journal: [],
	author: [],
	publication_types: [],
	languages: [],
	has_pmcid: false,
	exclude_retracted: false,
});

function yearProblem(value: string): string {
	const text = value.trim();
	if (!text) return '';
	if (!/^\d{4}$/.test(text)) return 'Four digits, such as 2012.';
	const year = Number(text);
	return year < firstYear || year > lastYear ? `From ${firstYear} to ${lastYear}.` : '';
}

/** What stands in the way of sending this form; empty when nothing does. */
export function filterProblems(form: FilterForm): FilterProblems {
	const problems: FilterProblems = {};
	const from = yearProblem(form.yearFrom);
	const to = yearProblem(form.yearTo);
	if (from) problems.yearFrom = from;
	if (to) problems.yearTo = to;
	if (!from && !to && form.yearFrom.trim() && form.yearTo.trim() && Number(form.yearFrom) > Number(form.yearTo)) {
		problems.yearTo = `${form.yearFrom.trim()} to ${form.yearTo.trim()} runs backwards.`;
	}
	if (form.title.trim().length > maxChars) problems.title = `At most ${maxChars} characters.`;
	for (const field of listFields) {
		if (form[field].length > maxValues) problems[field] = `At most ${maxValues} of them.`;
		else if (form[field].some((value) => value.length > maxChars)) {
			problems[field] = `Each has at most ${maxChars} characters.`;
		}
	}
	return problems;
}

/** The filter as the service wants it: only what filters. */
/** Said wherever fields are filled in that count for nothing. */
export const offLine = 'Filters are off: they are not applied';

export function toSearchFilter(form: FilterForm): SearchFilter {
	const filter: SearchFilter = {};
	if (form.yearFrom.trim()) filter.year_from = Number(form.yearFrom);
	if (form.yearTo.trim()) filter.year_to = Number(form.yearTo);
	if (form.title.trim()) filter.title = form.title.trim();
	for (const field of listFields) if (form[field].length) filter[field] = [...form[field]];
	for (const field of flagFields) if (form[field]) filter[field] = true;
	return filter;
}

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();

/** Add one value; blanks and repeats are dropped. */
export function addValue(values: readonly string[], typed: string): string[] {
	const value = typed.trim().replace(/\s+/g, ' ');
	return value && !values.some((other) => same(other, value)) ? [...values, value] : [...values];
}

/** Add what was typed: semicolons and line breaks part values, and commas part keywords.
 *
 * Some MeSH headings have a comma of their own ("Diabetes Mellitus, Type 2"): a text that is `known` stays whole.
 */
export function addTyped(
	values: readonly string[],
	typed: string,
	field: ListField,
	known: readonly string[] = [],
): string[] {
	const whole = known.find((value) => same(value, typed.trim()));
	if (whole) return addValue(values, whole);
	return typed.split(field === 'keywords' ? /[,;\n]/ : /[;\n]/).reduce(addValue, [...values]);
}
