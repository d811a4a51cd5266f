import { data } from 'currency-codes';

/** Codes of the list that are no money: for tests, and for none. */
const NO_MONEY = ['XTS', 'XXX'];

/** Decimal places of the minor unit of each ISO 4217 currency, by its code. The list of ISO, not that of a locale, which differs for some. */
export const CURRENCY_DECIMALS: ReadonlyMap<string, number> = new Map(
  data.filter(({ code }) => !NO_MONEY.includes(code)).map(({ code, digits }) => [code, digits]),
);

/** The most decimal places that a currency has. */
const MOST_DECIMALS = 4;

/** The largest amount, in a currency's smallest unit: every amount up to it is exact as a number, whatever its decimal places. */
export const MAX_MINOR_UNITS = 100_000_000_000_000;

/** Whether a code (upper-case) is a currency's in ISO 4217. */
export function isCurrency(code: string): boolean {
  return CURRENCY_DECIMALS.has(code);
}

/** The code of a currency in upper case; undefined where ISO 4217 has none. */
export function currencyCode(text: string): string | undefined {
  // ASCII alone: some letters beyond it become ASCII in upper case.
  const code = text.replace(/[a-z]/g, (letter) => letter.toUpperCase());
  return isCurrency(code) ? code : undefined;
}

/** Decimal places of a currency. */
export function decimalsOf(currency: string): number {
  return CURRENCY_DECIMALS.get(currency) ?? 2;
}

/**
 * An amount as it is written (19.99) in the currency's smallest unit (1999); null where the currency cannot hold it: too many decimal
 * places, negative, or above {@link MAX_MINOR_UNITS}.
 */
export function exactMinorUnits(value: number, currency: string): number | null {
  const minor = toMinorUnits(value, decimalsOf(currency));
  return minor === null || minor > MAX_MINOR_UNITS ? null : minor;
}

/**
 * An amount shifted by decimal places, exactly: by the decimal digits with which it is written, never by multiplying floats.
 * @param decimals those of its currency for an amount in major units, 0 for one in minor units
 * @returns null unless it is a whole number of minor units, not negative, and exact as a number
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

/** An amount in the currency's smallest unit as it is written: 1999 cents are 19.99. */
export function fromMinorUnits(minor: number | bigint, currency: string): number {
  const decimals = decimalsOf(currency);
  const text = String(minor)
    .replace('-', '')
    .padStart(decimals + 1, '0');
  const whole = text.slice(0, text.length - decimals);
  return Number(`${minor < 0 ? '-' : ''}${whole}.${text.slice(text.length - decimals)}`);
}

/** An amount in the smallest unit in ten-thousandths of the unit: by them, amounts of several currencies compare as the numbers that are shown. */
export function scaledOf(minor: number, currency: string): bigint {
  return BigInt(minor) * 10n ** BigInt(MOST_DECIMALS - decimalsOf(currency));
}

/** A bound in ten-thousandths of a unit, rounded so that what lies between the bounds stays the same; kept within a bigint. */
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

/** The shortest decimal that is read as this number: `digits` times ten to the `exponent`. */
function decimalOf(value: number): { digits: bigint; exponent: number } {
  const [mantissa, power = '0'] = String(value).split('e');
  const [whole, fraction = ''] = mantissa!.split('.');
  return { digits: BigInt(`${whole}${fraction}`), exponent: Number(power) - fraction.length };
}
