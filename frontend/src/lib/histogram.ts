// Records per year as bars, few enough to be seen.

export interface YearCount {
	year: number;
	records: number;
}

export interface Bar {
	/** First and last year of the bar. */
	from: number;
	to: number;
	records: number;
}

const steps = [1, 2, 5, 10, 20, 50, 100];

/** Bars for every year from the first to the last, empty ones too; years are put together when there are many. */
export function barsOf(years: readonly YearCount[], maxBars = 64): Bar[] {
	const known = years.filter(({ year, records }) => Number.isInteger(year) && records > 0);
	if (!known.length) return [];
	const first = Math.min(...known.map(({ year }) => year));
	const last = Math.max(...known.map(({ year }) => year));
	const step = steps.find((size) => (last - first + 1) / size <= maxBars) ?? 100;
	const start = first - (first % step);
	const bars: Bar[] = [];
	for (let from = start; from <= last; from += step) bars.push({ from, to: from + step - 1, records: 0 });
	for (const { year, records } of known) {
		const bar = bars[Math.floor((year - start) / step)];
		if (bar) bar.records += records;
	}
	return bars;
}

/** "1998" or "1990 to 1994". */
export const barYears = ({ from, to }: Bar) => (from === to ? String(from) : `${from} to ${to}`);

/** The bars in a sentence, for those who do not see them. */
export function barsInWords(bars: readonly Bar[]): string {
	const [first, last] = [bars[0], bars.at(-1)];
	if (!first || !last) return 'No record has a year.';
	const most = bars.reduce((best, bar) => (bar.records > best.records ? bar : best));
	const total = bars.reduce((sum, bar) => sum + bar.records, 0);
	const n = (count: number) => count.toLocaleString('en');
	return `Records per year, ${first.from} to ${last.to}: ${n(total)} in all, most in ${barYears(most)} (${n(most.records)}).`;
}

/** How many records lie in a range of years; an open end reaches as far as there are records. */
export function recordsWithin(years: readonly YearCount[], from: number | null, to: number | null): number {
	return years
		.filter(({ year }) => (from === null || year >= from) && (to === null || year <= to))
		.reduce((sum, { records }) => sum + records, 0);
}
