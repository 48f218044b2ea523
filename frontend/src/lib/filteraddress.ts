// The filter in the page's address, so that it can be kept and shared. Whatever an address holds, it is read.
import type { ParameterValues } from './address';
import { emptyForm, type FilterForm, flagFields, listFields } from './filters';

const textFields = { year_from: 'yearFrom', year_to: 'yearTo', title: 'title' } as const;
const names: readonly string[] = [...Object.keys(textFields), ...listFields, ...flagFields, 'filter'];
/** More of an address than this is not read: it was not made by this page. */
const maxValues = 100;
const maxChars = 400;

export interface FilterInAddress {
	form: FilterForm;
	isOn: boolean;
	/** What in the address could not be read, as sentences. */
	notes: string[];
}

/** Read the filter out of an address's query. What is set is on, unless the address says that it is off. */
export function filterIn(search: string): FilterInAddress {
	const parameters = new URLSearchParams(search);
	const form = emptyForm();
	const notes: string[] = [];
	const all = (name: string) =>
		parameters
			.getAll(name)
			.map((value) => cleaned(value))
			.filter(Boolean);
	for (const [name, field] of Object.entries(textFields)) {
		const [first = '', ...others] = all(name);
		form[field] = first;
		if (others.length) notes.push(`The address sets ${name} more than once; the first one, “${shortened(first)}”, is used.`);
	}
	for (const field of listFields) {
		const values = all(field);
		form[field] = [...new Set(values)].slice(0, maxValues);
		if (values.length > maxValues) notes.push(`The address holds ${values.length} values for ${field}; ${maxValues} were read.`);
	}
	for (const field of flagFields) {
		const [value = ''] = all(field);
		form[field] = value === '1' || value === 'true';
		if (value && !['0', '1', 'true', 'false'].includes(value)) {
			notes.push(`The address says ${field}=${shortened(value)}; only 1 or 0 can stand there, so it is not set.`);
		}
	}
	for (const name of new Set(parameters.keys())) {
		const near = names.includes(name) ? undefined : names.find((known) => known !== 'filter' && plain(known) === plain(name));
		if (near) notes.push(`The address says “${shortened(name)}”, which filters nothing; did it mean “${near}”?`);
	}
	const said = parameters.get('filter');
	// A form with something in it needs no word in the address to be on.
	const isSet = filterParameters(form, true).filter === null;
	if (said && !['on', 'off'].includes(said)) {
		notes.push(`The address says filter=${shortened(said)}; only on or off can stand there.`);
	}
	return { form, isOn: said === 'on' || (isSet && said !== 'off'), notes };
}

/** The address's parameters for this form; null for those that must not be there. */
export function filterParameters(form: FilterForm, isOn: boolean): ParameterValues {
	const values: Record<string, string | string[] | null> = {};
	for (const [name, field] of Object.entries(textFields)) values[name] = form[field].trim() || null;
	for (const field of listFields) values[field] = form[field].length ? [...form[field]] : null;
	for (const field of flagFields) values[field] = form[field] ? '1' : null;
	const isSet = Object.values(values).some((value) => value !== null);
	// Only what cannot be told from the fields needs to be said.
	values.filter = isOn === isSet ? null : isOn ? 'on' : 'off';
	return values;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what the service refuses
const controls = /[\u0000-\u001f\u007f-\u009f]/g;

function cleaned(value: string): string {
	return value.replace(controls, ' ').trim().slice(0, maxChars);
}

/** A name without what people get wrong in it: "yearFrom", "Year-from" and "year_from" are one. */
function plain(name: string): string {
	return name.toLowerCase().replace(/[^a-z]/g, '').replace(/s$/, '');
}

function shortened(value: string): string {
	const text = cleaned(value);
	return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
