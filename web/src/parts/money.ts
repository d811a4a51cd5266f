import { toNumber } from '../text/index.ts';

/** An amount in its currency, without decimal places where they say nothing. */
export function toMoney(value: number, currency: string): string {
  return toNumber(value, {
    style: 'currency',
    currency,
    ...(Number.isInteger(value) ? { maximumFractionDigits: 0 } : {}),
  });
}

/** An amount in the smallest unit of its currency, such as cents, with all its decimal places. */
export function toMoneyOfMinor(minor: number, currency: string): string {
  const { maximumFractionDigits = 2 } = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions();
  return toNumber(minor / 10 ** maximumFractionDigits, { style: 'currency', currency });
}

/** Currencies of the browser, those that are used most first. */
export const CURRENCIES: readonly string[] = [
  ...new Set(['USD', 'EUR', 'GBP', 'CHF', ...Intl.supportedValuesOf('currency')]),
];
