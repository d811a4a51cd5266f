import { data } from 'currency-codes';

/** Codes of ISO 4217 that are not currencies: one for tests, one for "no currency". */
const NO_MONEY = ['XTS', 'XXX'];

/**
 * Decimal places of each ISO 4217 currency's minor unit, by code. Uses the ISO list, because locale data differs for
 * some currencies.
 */
export const CURRENCY_DECIMALS: ReadonlyMap<string, number> = new Map(
  data.filter(({ code }) => !NO_MONEY.includes(code)).map(({ code, digits }) => [code, digits]),
);

/** Maximum number of decimal places of any currency. */
const MOST_DECIMALS = 4;

/**
 * Maximum amount in a currency's minor unit. Every amount up to this maximum is an exact JavaScript number, in every
 * currency.
 */
export const MAX_MINOR_UNITS = 100_000_000_000_000;

/** Returns true if an upper-case code is a currency of ISO 4217. */
export function isCurrency(code: string): boolean {
  return CURRENCY_DECIMALS.has(code);
}

/** Returns a currency code in upper case, or undefined if ISO 4217 does not list it. */
export function currencyCode(text: string): string | undefined {
  // Converts only ASCII letters: some other letters become ASCII in upper case.
  const code = text.replace(/[a-z]/g, (letter) => letter.toUpperCase());
  return isCurrency(code) ? code : undefined;
}

/** Returns the number of decimal places of a currency. */
export function decimalsOf(currency: string): number {
  return CURRENCY_DECIMALS.get(currency) ?? 2;
}

/**
 * Converts an amount in major units (19.99) to the currency's minor unit (1999). Returns null if the amount is invalid
 * in the currency: too many decimal places, negative, or above {@link MAX_MINOR_UNITS}.
 */
export function exactMinorUnits(value: number, currency: string): number | null {
  const minor = toMinorUnits(value, decimalsOf(currency));
  return minor === null || minor > MAX_MINOR_UNITS ? null : minor;
}

/**
 * Converts an amount to the minor unit. The result is exact, because it is computed from decimal digits instead of
 * floats.
 * @param decimals decimal places of the currency for an amount in major units, 0 for an amount in minor units
 * @returns null unless the result is a non-negative whole number of minor units that is exact as a number
 */
export function toMinorUnits(amount: number, decimals: number): number | null {
  const { digits, exponent } = decimalOf(amount);
  const shift = exponent + decimals;
  if (digits < 0n || shift > 20) return null;
  const divisor = 10n ** BigInt(Math.max(0, -shift));
  if (digits % divisor !== 0n) return null;
  const minor = Number((digits / divisor) * 10n ** BigInt(Math.max(0, shift)));
  return Number.isSafeInteger(minor) ? minor : null;
}

/** Converts an amount in the currency's minor unit to major units: 1999 cents are 19.99. */
export function fromMinorUnits(minor: number | bigint, currency: string): number {
  const decimals = decimalsOf(currency);
  const text = String(minor)
    .replace('-', '')
    .padStart(decimals + 1, '0');
  const whole = text.slice(0, text.length - decimals);
  return Number(`${minor < 0 ? '-' : ''}${whole}.${text.slice(text.length - decimals)}`);
}

/**
 * Converts an amount in the minor unit to ten-thousandths of the major unit. In this unit, amounts of several
 * currencies can be compared by their displayed numbers.
 */
export function scaledOf(minor: number, currency: string): bigint {
  return BigInt(minor) * 10n ** BigInt(MOST_DECIMALS - decimalsOf(currency));
}

/**
 * Converts a bound to ten-thousandths of the major unit. Rounds in the direction in which no matching amount is
 * excluded, and limits the result to the range of a bigint column.
 */
export function scaledBound(value: number, towards: 'up' | 'down'): bigint {
  const { digits, exponent } = decimalOf(value);
  const shift = exponent + MOST_DECIMALS;
  const limit = 2n ** 62n;
  if (shift > 20) return digits < 0n ? -limit : digits === 0n ? 0n : limit;
  if (shift >= 0) return clamp(digits * 10n ** BigInt(shift), limit);
  const divisor = 10n ** BigInt(Math.min(-shift, 400));
  const floor = digits / divisor - (digits % divisor < 0n ? 1n : 0n);
  return clamp(towards === 'up' && digits % divisor !== 0n ? floor + 1n : floor, limit);
}

function clamp(value: bigint, limit: bigint): bigint {
  if (value > limit) return limit;
  return value < -limit ? -limit : value;
}

/** Returns the shortest decimal that parses to this number: `digits` times ten to the `exponent`. */
function decimalOf(value: number): { digits: bigint; exponent: number } {
  const [mantissa, power = '0'] = String(value).split('e');
  const [whole, fraction = ''] = mantissa!.split('.');
  return { digits: BigInt(`${whole}${fraction}`), exponent: Number(power) - fraction.length };
}
