import type { DateTime } from 'luxon';
import type { Relative } from './date-words.ts';

/** A part of the year that is named without a day. */
export interface Period {
  first: DateTime;
  last: DateTime;
}

/** Languages of countries where most churches date Easter by the Julian calendar. */
const JULIAN: ReadonlySet<string> = new Set(['bg', 'el', 'ro', 'ru', 'uk']);
/** Holidays on the same day of each year, as month and day. */
const FIXED: Readonly<Record<string, readonly [number, number]>> = {
  christmas: [12, 25],
  new_year_day: [1, 1],
  may_day: [5, 1],
  labour_day: [5, 1],
  national_day: [10, 1],
  qingming: [4, 5],
  midsummer: [6, 24],
};

/** Returns the day or period that a word names. Null for a past day. */
export function relativeDay(word: Relative, today: DateTime): DateTime | Period {
  switch (word) {
    case 'today':
      return today;
    case 'tomorrow':
      return today.plus({ days: 1 });
    case 'day_after_tomorrow':
      return today.plus({ days: 2 });
    case 'next_week':
      return periodOf(today.plus({ weeks: 1 }), 'week');
    case 'next_month':
      return periodOf(today.plus({ months: 1 }), 'month');
    case 'next_quarter':
      return periodOf(today.plus({ quarters: 1 }), 'quarter');
    case 'next_year':
      return periodOf(today.plus({ years: 1 }), 'year');
    case 'new_year':
      return today.plus({ years: 1 }).startOf('year');
    case 'end_of_week':
      return today.endOf('week').minus({ days: 2 }).startOf('day');
    case 'end_of_month':
      return today.endOf('month').startOf('day');
    case 'end_of_year':
      return today.endOf('year').startOf('day');
  }
}

/** Returns the whole week, month, quarter or year that contains a day. */
export function periodOf(day: DateTime, unit: 'week' | 'month' | 'quarter' | 'year'): Period {
  return { first: day.startOf(unit), last: day.endOf(unit).startOf('day') };
}

/** Returns the current or next season that begins in a month. */
export function seasonFrom(month: number, today: DateTime): Period {
  const periods = [today.year - 1, today.year, today.year + 1].map((year) => {
    const first = today.set({ year, month, day: 1 });
    return { first, last: first.plus({ months: 3 }).minus({ days: 1 }) };
  });
  return periods.find(({ last }) => last >= today)!;
}

/** Returns the next date of a holiday. Null for an unknown holiday. */
export function holidayOf(name: string, language: string, today: DateTime): DateTime | null {
  if (name === 'easter') return nextYearly(today, (year) => easterOf(year, JULIAN.has(language), today));
  const fixed = FIXED[name];
  return fixed ? nextYearly(today, (year) => today.set({ year, month: fixed[0], day: fixed[1] })) : null;
}

function nextYearly(today: DateTime, dayIn: (year: number) => DateTime): DateTime {
  const day = dayIn(today.year);
  return day >= today ? day : dayIn(today.year + 1);
}

/** Calculates Easter Sunday by the algorithms of Meeus, as a date in the Gregorian calendar. */
function easterOf(year: number, isJulian: boolean, zone: DateTime): DateTime {
  if (isJulian) {
    const moon = (19 * (year % 19) + 15) % 30;
    const sunday = (2 * (year % 4) + 4 * (year % 7) - moon + 34) % 7;
    const month = Math.floor((moon + sunday + 114) / 31);
    const day = ((moon + sunday + 114) % 31) + 1;
    return zone.set({ year, month, day }).plus({ days: 13 });
  }
  const golden = year % 19;
  const [century, ofCentury] = [Math.floor(year / 100), year % 100];
  const shift = Math.floor((century - Math.floor((century + 8) / 25) + 1) / 3);
  const moon = (19 * golden + century - Math.floor(century / 4) - shift + 15) % 30;
  const sunday = (32 + 2 * (century % 4) + 2 * Math.floor(ofCentury / 4) - moon - (ofCentury % 4)) % 7;
  const late = Math.floor((golden + 11 * moon + 22 * sunday) / 451);
  const sum = moon + sunday - 7 * late + 114;
  return zone.set({ year, month: Math.floor(sum / 31), day: (sum % 31) + 1 });
}
