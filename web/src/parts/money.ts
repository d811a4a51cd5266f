import { region } from '../app/preferences.ts';
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

/** How a field writes an amount: as it is written in the viewer's region. */
export function amountProps(): { thousandSeparator: string; decimalSeparator: string } {
  const parts = new Intl.NumberFormat(region()).formatToParts(12_345.5);
  const of = (type: Intl.NumberFormatPartTypes) => parts.find((part) => part.type === type)?.value ?? '';
  return { thousandSeparator: of('group'), decimalSeparator: of('decimal') };
}

/** Currencies of the browser, those that are used most first. */
export const CURRENCIES: readonly string[] = [
  ...new Set(['USD', 'EUR', 'GBP', 'CHF', ...Intl.supportedValuesOf('currency')]),
];
