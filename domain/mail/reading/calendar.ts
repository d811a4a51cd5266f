import type { DateTime } from 'luxon';
import type { Relative, YearPart } from './date-words.ts';

/** A part of the year that is named without a day. */
export interface Period {
  first: DateTime;
  last: DateTime;
}

/** Languages of countries where most churches date Easter by the Julian calendar. */
const JULIAN: ReadonlySet<string> = new Set(['bg', 'el', 'ro', 'ru', 'uk']);
/** Holidays on the same day of each year, as month and day. */
const FIXED: Readonly<Record<string, readonly [number, number]>> = {
  school_start: [9, 1],
  all_saints: [11, 1],
  anzac_day: [4, 25],
  assumption: [8, 15],
  australia_day: [1, 26],
  bonfire: [11, 5],
  canada_day: [7, 1],
  christmas: [12, 25],
  day_of_nation: [8, 20],
  epiphany: [1, 6],
  fiestas_patrias: [9, 18],
  golden_week: [4, 29],
  halloween: [10, 31],
  hogmanay: [12, 31],
  independence_day: [7, 4],
  labour_day: [5, 1],
  martinmas: [11, 11],
  may_day: [5, 1],
  may_holidays: [5, 1],
  midsummer: [6, 24],
  national_day: [10, 1],
  new_year_day: [1, 1],
  new_year_holidays: [1, 1],
  newroz: [3, 21],
  obon: [8, 13],
  protection: [10, 14],
  qingming: [4, 5],
  liberation_day: [8, 15],
  reunification_day: [4, 30],
  saint_jean: [6, 24],
  songkran: [4, 13],
  st_john: [6, 24],
  st_joseph: [3, 19],
  st_nicholas: [12, 6],
  st_patrick: [3, 17],
  valentine: [2, 14],
  victory_day: [5, 9],
  vietnam_national_day: [9, 2],
  women_day: [3, 8],
};
/** Holidays on a weekday of a month: month, weekday, and its number within the month; -1 is the last. */
const ON_WEEKDAY: Readonly<Record<string, readonly [number, number, number]>> = {
  memorial_day: [5, 1, -1],
  thanksgiving: [11, 4, 4],
  us_labor_day: [9, 1, 1],
};
/** Days from Easter Sunday to each holiday; negative before Easter. */
const FROM_EASTER: Readonly<Record<string, number>> = {
  carnival: -47,
  ash_wednesday: -46,
  easter: 0,
  ascension: 39,
  pentecost: 49,
  corpus_christi: 60,
};
/** Holidays of other calendars: the calendar, and a day as `Intl.DateTimeFormat` writes it in English. */
const OF_CALENDAR: Readonly<Record<string, readonly [string, string]>> = {
  ramadan: ['islamic-umalqura', '9/1'],
  eid_al_fitr: ['islamic-umalqura', '10/1'],
  eid_al_adha: ['islamic-umalqura', '12/10'],
  rosh_hashana: ['hebrew', '1 Tishri'],
  yom_kippur: ['hebrew', '10 Tishri'],
  sukkot: ['hebrew', '15 Tishri'],
  hanukkah: ['hebrew', '25 Kislev'],
  passover: ['hebrew', '15 Nisan'],
  purim: ['hebrew', '14 Adar'],
  shavuot: ['hebrew', '6 Sivan'],
  lunar_new_year: ['chinese', '1/1'],
  spring_festival: ['chinese', '1/1'],
  dragon_boat: ['chinese', '5/5'],
  mid_autumn: ['chinese', '8/15'],
};
/** Lengths (days) of holidays that last more than one day. */
const LASTS: Readonly<Record<string, number>> = {
  eid_al_fitr: 3,
  eid_al_adha: 4,
  ramadan: 30,
  passover: 7,
  rosh_hashana: 2,
  sukkot: 8,
  hanukkah: 8,
  golden_week: 7,
  obon: 3,
  songkran: 3,
  may_holidays: 9,
  lunar_new_year: 7,
  spring_festival: 7,
  national_day: 7,
  new_year_holidays: 8,
};
/** Number of days within which a day of another calendar occurs at least once. */
const LONGEST_YEAR = 390;

/** Returns the day or period named by a word such as "tomorrow" or "next week". */
export function relativeDay(word: Relative, today: DateTime): DateTime | Period {
  switch (word) {
    case 'today':
      return today;
    case 'tomorrow':
      return today.plus({ days: 1 });
    case 'day_after_tomorrow':
      return today.plus({ days: 2 });
    case 'this_week':
      return periodOf(today, 'week');
    case 'after_weekend':
      return today.plus({ weeks: 1 }).startOf('week');
    case 'next_week':
      return periodOf(today.plus({ weeks: 1 }), 'week');
    case 'week_after_next':
      return periodOf(today.plus({ weeks: 2 }), 'week');
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
    case 'end_of_quarter':
      return today.endOf('quarter').startOf('day');
    case 'end_of_year':
      return today.endOf('year').startOf('day');
  }
}

/** Returns the whole week, month, quarter or year that contains a day. */
export function periodOf(day: DateTime, unit: 'week' | 'month' | 'quarter' | 'year'): Period {
  return { first: day.startOf(unit), last: day.endOf(unit).startOf('day') };
}

/** Returns the current or next season whose first month is `month`. */
export function seasonFrom(month: number, today: DateTime): Period {
  const periods = [today.year - 1, today.year, today.year + 1].map((year) => {
    const first = today.set({ year, month, day: 1 });
    return { first, last: first.plus({ months: 3 }).minus({ days: 1 }) };
  });
  return periods.find(({ last }) => last >= today)!;
}

/** Returns a quarter or half of the given year. Without a year, returns the next one that has not begun. */
export function yearPart(part: YearPart, today: DateTime, year?: number): Period {
  const months = part.startsWith('q') ? 3 : 6;
  const month = (Number(part[1]) - 1) * months + 1;
  const periods = (year === undefined ? [today.year, today.year + 1] : [year]).map((one) => {
    const first = today.set({ year: one, month, day: 1 });
    return { first, last: first.plus({ months }).minus({ days: 1 }) };
  });
  return periods.find(({ first }) => first > today) ?? periods[0]!;
}

/** Returns the first and the last day of the next occurrence of a holiday. Null for an unknown holiday. */
export function holidayOf(name: string, language: string, today: DateTime): Period | null {
  const first = holidayStart(name, language, today);
  return first && { first, last: first.plus({ days: (LASTS[name] ?? 1) - 1 }) };
}

function holidayStart(name: string, language: string, today: DateTime): DateTime | null {
  const days = FROM_EASTER[name];
  if (days !== undefined)
    return nextYearly(today, (year) => easterOf(year, JULIAN.has(language), today).plus({ days }));
  if (name === 'black_friday')
    return nextYearly(today, (year) => weekdayIn(today.set({ year, month: 11 }), 4, 4).plus({ days: 1 }));
  const onWeekday = ON_WEEKDAY[name];
  if (onWeekday) {
    const [month, weekday, number] = onWeekday;
    return nextYearly(today, (year) => weekdayIn(today.set({ year, month, day: 1 }), weekday, number));
  }
  const ofCalendar = OF_CALENDAR[name];
  if (ofCalendar) return nextInCalendar(ofCalendar, today);
  // Diwali is at a new moon of autumn, Holi at a full moon of spring. They are computed from the Chinese calendar,
  // which differs from the Indian one by a day.
  if (name === 'diwali') return nextMoon(today, { day: 1, from: [10, 15], to: [11, 14] })?.minus({ days: 1 }) ?? null;
  if (name === 'holi') return nextMoon(today, { day: 15, from: [2, 27], to: [3, 28] });
  const fixed = FIXED[name] ?? /^(\d\d)-(\d\d)$/.exec(name)?.slice(1).map(Number);
  return fixed ? nextYearly(today, (year) => today.set({ year, month: fixed[0]!, day: fixed[1]! })) : null;
}

/** Returns the nth given weekday of the month that contains a day; -1 returns the last one. */
function weekdayIn(day: DateTime, weekday: number, number: number): DateTime {
  if (number < 0) {
    const last = day.endOf('month').startOf('day');
    return last.minus({ days: (last.weekday - weekday + 7) % 7 });
  }
  const first = day.startOf('month');
  return first.plus({ days: ((weekday - first.weekday + 7) % 7) + 7 * (number - 1) });
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Writes the month and day of a date in another calendar. */
function inCalendar(calendar: string, day: DateTime): string {
  let format = formats.get(calendar);
  if (!format)
    formats.set(
      calendar,
      (format = new Intl.DateTimeFormat(`en-u-ca-${calendar}`, { month: 'numeric', day: 'numeric', timeZone: 'UTC' })),
    );
  // In the Hebrew calendar a leap year has two months Adar, and the holidays are in the second.
  return format.format(Date.UTC(day.year, day.month - 1, day.day)).replace(' II', '');
}

/** Cache of the days found for the last `today`, because a text may name a holiday many times. */
let found = { today: '', days: new Map<string, DateTime | null>() };

function nextDay(today: DateTime, key: string, is: (day: DateTime) => boolean): DateTime | null {
  const date = today.toISO() ?? '';
  if (found.today !== date) found = { today: date, days: new Map() };
  const known = found.days.get(key);
  if (known !== undefined) return known;
  const days = Array.from({ length: LONGEST_YEAR }, (_, number) => number);
  const number = days.find((one) => is(today.plus({ days: one })));
  const day = number === undefined ? null : today.plus({ days: number });
  found.days.set(key, day);
  return day;
}

function nextInCalendar([calendar, wanted]: readonly [string, string], today: DateTime): DateTime | null {
  return nextDay(today, `${calendar} ${wanted}`, (day) => inCalendar(calendar, day) === wanted);
}

/** Returns the next date in a part of the year that is a given day of a Chinese month. */
function nextMoon(
  today: DateTime,
  { day, from, to }: { day: number; from: readonly [number, number]; to: readonly [number, number] },
): DateTime | null {
  return nextDay(today, `moon ${day}`, (one) => {
    const place = one.month * 100 + one.day;
    return (
      place >= from[0] * 100 + from[1] && place <= to[0] * 100 + to[1] && inCalendar('chinese', one).endsWith(`/${day}`)
    );
  });
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
