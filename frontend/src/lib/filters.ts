// The filter form: what was typed, whether it can be sent, and what is sent.

export interface FilterForm {
	yearFrom: string;
	yearTo: string;
	title: string;
	keywords: string[];
}

export interface SearchFilter {
	year_from?: number;
	year_to?: number;
	title?: string;
	keywords?: string[];
}

export type FilterProblems = Partial<Record<'yearFrom' | 'yearTo' | 'title' | 'keywords', string>>;

// The limits of the service's SearchFilter.
const firstYear = 1500;
const lastYear = 2200;
const maxChars = 300;
const maxKeywords = 50;

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
	if (form.title.length > maxChars) problems.title = `At most ${maxChars} characters.`;
	if (form.keywords.length > maxKeywords) problems.keywords = `At most ${maxKeywords} keywords.`;
	else if (form.keywords.some((keyword) => keyword.length > maxChars)) {
		problems.keywords = `A keyword has at most ${maxChars} characters.`;
	}
	return problems;
}

/** The filter as the service wants it: only what filters. */
export function toSearchFilter(form: FilterForm): SearchFilter {
	const filter: SearchFilter = {};
	if (form.yearFrom.trim()) filter.year_from = Number(form.yearFrom);
	if (form.yearTo.trim()) filter.year_to = Number(form.yearTo);
	if (form.title.trim()) filter.title = form.title.trim();
	if (form.keywords.length) filter.keywords = [...form.keywords];
	return filter;
}

/** Add what was typed to a list of keywords: commas and semicolons part them, repeats and blanks are dropped. */
export function addKeywords(keywords: readonly string[], typed: string): string[] {
	const added = [...keywords];
	for (const part of typed.split(/[,;\n]/)) {
		const keyword = part.trim().replace(/\s+/g, ' ');
		if (keyword && !added.some((other) => other.toLowerCase() === keyword.toLowerCase())) added.push(keyword);
	}
	return added;
}
