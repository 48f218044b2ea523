// A figure as a reader sees it: digits grouped, six that count, none of a binary fraction's tail.

const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const PRECISE = new Intl.NumberFormat('en', { maximumSignificantDigits: 6 });
const LARGE = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });

/** `value` in words of digits: 2400350.75 → `2,400,350.75`, 28.333333333333336 → `28.3333`, 5e-8 → `5e-8`. */
export function figure(value: number): string {
	const size = Math.abs(value);
	if (!Number.isFinite(value) || (size !== 0 && (size < 1e-4 || size >= 1e15))) return String(value);
	if (Number.isInteger(value)) return WHOLE.format(value);
	return (size >= 1000 ? LARGE : PRECISE).format(value);
}
