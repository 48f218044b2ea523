import { expect, test } from 'vitest';
import { figure } from '../src/lib/figures';

test.each([
	[2400350.75, '2,400,350.75'],
	[28.333333333333336, '28.3333'],
	[12, '12'],
	[0, '0'],
	[-0.5, '-0.5'],
	[0.005, '0.005'],
	[5e-8, '5e-8'],
	[1271000000, '1,271,000,000'],
	[Number.NaN, 'NaN']
])('%d is shown as %s', (value, shown) => {
	expect(figure(value)).toBe(shown);
});
