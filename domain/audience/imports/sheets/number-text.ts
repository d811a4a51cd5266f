import { format } from 'numfmt';

/**
 * Built-in number formats of Excel, by their id. Date formats are not included, because they depend on the country.
 */
const BUILT_IN: Readonly<Record<number, string>> = {
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  37: '#,##0 ;(#,##0)',
  38: '#,##0 ;(#,##0)',
  39: '#,##0.00;(#,##0.00)',
  40: '#,##0.00;(#,##0.00)',
  48: '##0.0E+0',
};
const DATES = new Set([14, 15, 16, 17, 27, 28, 29, 30, 31, 34, 35, 36, 50, 51, 52, 53, 54, 57, 58]);
const TIMES = new Set([18, 19, 20, 21, 32, 33, 45, 46, 47, 55, 56]);
const DAY_MS = 86_400_000;
/** Number of days between the starts of Excel's two calendars, 1900 and 1904. */
const CALENDARS_APART = 1_462;
const MAX_KEPT = 64;

/** A number format: the id of a built-in one, or a pattern. */
export interface NumberFormat {
  id: number;
  pattern?: string | undefined;
}

const kinds = new Map<string, 'date' | 'time' | 'both' | 'number'>();

/**
 * Formats the number of a cell as Excel shows it, but with all digits. A number with a date format becomes a date, and
 * a long number is not written as a power of ten. Dates in the country's own format become 2026-11-28.
 */
export function numberText(written: string, { id, pattern }: NumberFormat, { is1904 }: { is1904: boolean }): string {
  const value = Number(written);
  if (!Number.isFinite(value)) return written;
  if (DATES.has(id)) return dateText(value, is1904, 'date');
  if (TIMES.has(id)) return dateText(value, is1904, 'time');
  if (id === 22) return dateText(value, is1904, 'both');
  const shape = pattern ?? BUILT_IN[id];
  if (shape === undefined || /^(?:general|@)$/i.test(shape)) return plainNumber(written, value);
  const kind = kindOf(shape);
  // Writes such a date in numbers, because the words for months and weekdays depend on the viewer's language.
  if (kind !== 'number' && /mmm|ddd|aaa|\[\$|ggg|e+\/|年/i.test(shape)) return dateText(value, is1904, kind);
  try {
    const shown = format(shape, kind !== 'number' && is1904 ? value + CALENDARS_APART : value);
    return /^#+$/.test(shown) || /\de[+-]?\d/i.test(shown) ? plainNumber(written, value) : shown.trim();
  } catch {
    return plainNumber(written, value);
  }
}

function kindOf(pattern: string): 'date' | 'time' | 'both' | 'number' {
  const known = kinds.get(pattern);
  if (known) return known;
  const bare = pattern.replace(/"[^"]*"|\\.|_.|\*.|\[(?!h|m|s)[^\]]*\]/gi, '');
  const hasTime = /[hs]/i.test(bare) && !/0\.0*s?$/.test(bare.replace(/[hms:]/gi, ''));
  const hasDate = /[yd]/i.test(bare) || (/m/i.test(bare) && !hasTime);
  const kind = hasDate ? (hasTime ? 'both' : 'date') : hasTime ? 'time' : 'number';
  if (kinds.size < MAX_KEPT) kinds.set(pattern, kind);
  return kind;
}

/** Returns all written digits, up to the precision of Excel's numbers. */
function plainNumber(written: string, value: number): string {
  if (/^[-+]?\d+$/.test(written)) return written;
  if (Number.isInteger(value)) return Math.abs(value) < 1e21 ? BigInt(value).toString() : written;
  return String(Number(value.toPrecision(15)));
}

function dateText(serial: number, is1904: boolean, kind: 'date' | 'time' | 'both'): string {
  const days = is1904 ? serial + CALENDARS_APART : serial;
  // Excel's calendar contains 29 February 1900, which did not exist.
  const real = days < 60 ? days + 1 : days;
  const moment = new Date(Date.UTC(1899, 11, 30) + Math.round(real * 86_400) * 1_000);
  if (Number.isNaN(moment.getTime())) return String(serial);
  const iso = moment.toISOString();
  const time = iso.slice(11, iso.slice(17, 19) === '00' ? 16 : 19);
  if (kind === 'time' && serial < 1) return time;
  const hasTime = kind !== 'date' && moment.getTime() % DAY_MS !== 0;
  return hasTime ? `${iso.slice(0, 10)} ${time}` : iso.slice(0, 10);
}
