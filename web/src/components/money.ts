import { region } from '../app/preferences.ts';
import { toNumber } from '../text/index.ts';

/** Formats an amount in its currency, without unneeded decimal places. */
export function toMoney(value: number, currency: string): string {
  return toNumber(value, {
    style: 'currency',
    currency,
    ...(Number.isInteger(value) ? { maximumFractionDigits: 0 } : {}),
  });
}

/** Formats an amount in minor units, such as cents, with all its decimal places. */
export function toMoneyOfMinor(minor: number, currency: string): string {
  return toNumber(minor / 10 ** minorDigits(currency), { style: 'currency', currency });
}

/** Returns the number of decimal places of a currency. */
export function minorDigits(currency: string): number {
  return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
}

/** Returns the separators for amount inputs in the viewer's region. */
export function amountProps(): { thousandSeparator: string; decimalSeparator: string } {
  const parts = new Intl.NumberFormat(region()).formatToParts(12_345.5);
  const of = (type: Intl.NumberFormatPartTypes) => parts.find((part) => part.type === type)?.value ?? '';
  return { thousandSeparator: of('group'), decimalSeparator: of('decimal') };
}

/** Currency codes known to the browser, the most used first. */
export const CURRENCIES: readonly string[] = [
  ...new Set(['USD', 'EUR', 'GBP', 'CHF', ...Intl.supportedValuesOf('currency')]),
];
