import { DateTime, type WeekdayNumbers } from 'luxon';
import { numericDates, phrasesIn, weekWords, type Cue, type Phrase, type Relative, type Sense } from './date-words.ts';
import { lengthsIn } from './lengths.ts';
import { holidayOf, periodOf, relativeDay, seasonFrom, yearPart, type Period } from './calendar.ts';

/** A written date: its position in the folded text, and its most plausible day. */
export interface WrittenDate {
  start: number;
  end: number;
  /** The day; null if it is past or more than a year ahead. */
  day: DateTime | null;
  /** Last day of a month, season, quarter or holiday that is named without a day. */
  last?: DateTime;
  /**
   * Kind of the date: a day, a period, a length of time from now, or a number and unit that may not be a time from now.
   */
  precision: 'day' | 'period' | 'length' | 'bare';
}

/** A word near a date that determines its meaning. */
export interface WrittenCue {
  start: number;
  end: number;
  cue: Cue;
}

interface Reading {
  year: number | null;
  month: number;
  day: number;
}

const MAX_DATES = 30;
/** Maximum number of dates and numbers that are read. */
const MAX_FOUND = 40;
/**
 * Maximum number of days ahead for a day without a year. A later day was more likely meant as a day of the recent past.
 */
const MAX_YEARLESS_DAYS = 300;
/** Maximum number of months ahead for a month without a year, because a month alone means its next occurrence. */
const MAX_MONTHS = 11;
const DAYS_IN_MONTH = 31;
/** Days from the first day of a month to its middle. */
const MID_MONTH = 14;

/** A letter of a script with spaces between words. */
const SPACED_LETTER = String.raw`(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])\p{L}`;
const NUMERIC = new RegExp(
  [
    String.raw`(?<![\d./:+]|${SPACED_LETTER})(?:(?<isoYear>20\d\d)[-/.]\s?(?<isoMonth>\d{1,2})[-/.]\s?(?<isoDay>\d{1,2})(?!\d)`,
    // Excludes two numbers joined by a dash without a year, which are a range, and times of day.
    String.raw`|(?!\d{1,2}-\d{1,2}(?!-\d))(?<first>\d{1,2})(?<separator>[./-])\s?(?<second>\d{1,2})(?!\d)`,
    String.raw`(?:\k<separator>\s?(?<year>20\d\d|\d\d)(?![\d:]))?\.?(?!\s?(?:uhr|h\b|am\b|pm\b|%|:)|[.,]?\d))`,
  ].join(''),
  'gu',
);
const NUMBER = /(?<![\d.:/+]|\d,)\d{1,2}(?![\d/]|[:.,]\d)/gu;
const TIME_OF_DAY = /^\s?(?:[:h%]|am\b|pm\b|uhr|kl|час|ч\b|時|时|點|点|시\b)/u;
const DAY_THEN_MONTH = /^[\s.,\-/']{0,3}(?:[\p{L}]{1,4}['.]?\s)?$/u;
const MONTH_THEN_DAY = /^[\s.,-]{0,2}(?:\p{L}{1,3}\.?\s)?$/u;
const YEAR = /^[\s.,'-]{0,3}(?:\p{L}{1,3}\.?\s)?(20\d\d)(?!\d)/u;
const QUARTER = new RegExp(String.raw`(?<!\p{N}|${SPACED_LETTER})(?:q\s?([1-4])(?!\d)|([1-4])q(?!\p{L}))`, 'gu');
const BARE_YEAR = /(?<![\d.,/-])(20[2-4]\d)(?![\d.,/-]\d|\d)/gu;
/** Maximum number of characters between a weekday and the date to which it belongs. */
const MAX_BESIDE = 12;
const BESIDE = /^[\s.,()-]{0,4}(?:\p{L}{1,3}[.']?\s)?$/u;

/** Phrases for a week, with its distance from the current one. */
const WEEKS: Readonly<Partial<Record<Relative, number>>> = { next_week: 1, week_after_next: 2 };

/** State of the search for dates in a text: its phrases, and the dates found so far. */
interface Sought {
  text: string;
  today: DateTime;
  language: string;
  phrases: readonly Phrase[];
  found: WrittenDate[];
}

/**
 * Finds the dates in a text, in order, at most 30, and the words that determine their meaning. Reads 31 languages.
 * `3/12` may be 3 December or 12 March, and the year may be missing. The day is chosen by a weekday next to the date,
 * otherwise by the language's usual order, and in English as the nearest future day. A weekday alone means its next
 * occurrence.
 * @param text folded by `foldForDates`
 * @param today day on which the text was written, in the writer's time zone
 */
export function writtenDates(
  text: string,
  today: DateTime,
): { language: string; dates: WrittenDate[]; cues: WrittenCue[] } {
  const { language, phrases } = phrasesIn(text);
  const sought: Sought = { text, today, language, phrases, found: [] };
  findNumeric(sought);
  findNamedDays(sought);
  findLengths(sought, false);
  findPhrases(sought);
  findShortForms(sought);
  findLoneDays(sought);
  findLengths(sought, true);
  return {
    language,
    dates: sought.found.toSorted((a, b) => a.start - b.start).slice(0, MAX_DATES),
    cues: phrases.flatMap(({ start, end, senses }) =>
      senses.flatMap((sense) => (sense.is === 'cue' ? [{ start, end, cue: sense.value }] : [])),
    ),
  };
}

function add(sought: Sought, date: WrittenDate): void {
  if (!isFull(sought) && !isTaken(sought, date)) sought.found.push(date);
}

/** Returns true if a date that was found covers a part of a span. */
function isTaken({ found }: Sought, { start, end }: { start: number; end: number }): boolean {
  return found.some((other) => start < other.end && other.start < end);
}

/** Returns true if no further date is read, so that a text of many dates takes bounded time. */
function isFull({ found }: Sought): boolean {
  return found.length >= MAX_FOUND;
}

function findNumeric(sought: Sought): void {
  const { order } = numericDates(sought.language);
  for (const match of sought.text.matchAll(NUMERIC)) {
    if (isFull(sought)) return;
    const { isoYear, isoMonth, isoDay, first, separator, second, year } = match.groups ?? {};
    const span = { start: match.index, end: match.index + match[0].length };
    const readings: Reading[] = [];
    if (isoYear !== undefined) readings.push({ year: Number(isoYear), month: Number(isoMonth), day: Number(isoDay) });
    else {
      const of = year === undefined ? null : (Number(year) % 100) + 2000;
      const dayFirst = { year: of, month: Number(second), day: Number(first) };
      const monthFirst = { year: of, month: Number(first), day: Number(second) };
      if (order === 'dmy') readings.push(dayFirst);
      if (order !== 'dmy' || separator !== '.') readings.push(monthFirst);
      if (order !== 'dmy') readings.push(dayFirst);
    }
    // In English, the order is not known, because some countries put the day first and others the month.
    addDay(sought, span, readings, sought.language !== 'en');
  }
}

/** Finds months with the number of a day, before or after the month. */
function findNamedDays(sought: Sought): void {
  const { text, phrases } = sought;
  const numbers = dayNumbers(sought);
  for (const phrase of phrases) {
    const month = sensed(phrase, 'month')?.value;
    if (month === undefined) continue;
    if (isFull(sought)) return;
    const before = numbers.findLast((one) => one.end <= phrase.start && !isTaken(sought, one));
    const behind = numbers.find((one) => one.start >= phrase.end && !isTaken(sought, one));
    const isBefore = before && DAY_THEN_MONTH.test(text.slice(before.end, phrase.start));
    const isBehind = behind && !isBefore && MONTH_THEN_DAY.test(text.slice(phrase.end, behind.start));
    if (!isBefore && !isBehind) continue;
    const number = isBefore ? before : behind!;
    const start = Math.min(number.start, phrase.start);
    const year = YEAR.exec(text.slice(Math.max(number.end, phrase.end)));
    const earlier = /(20\d\d)(?:\D{0,4}\s?)$/u.exec(text.slice(Math.max(0, start - 10), start));
    const end = Math.max(number.end, phrase.end) + (year?.[0].length ?? 0);
    const of = year?.[1] ?? earlier?.[1];
    addDay(sought, { start, end }, [{ year: of === undefined ? null : Number(of), month, day: number.value }]);
  }
}

/** Returns the numbers that may be days, with the suffix that follows them in the language. */
function dayNumbers({ text, language }: Sought): { start: number; end: number; value: number; isOrdinal: boolean }[] {
  const { ordinal } = numericDates(language);
  return [...text.matchAll(NUMBER)]
    .slice(0, MAX_FOUND)
    .map(({ 0: digits, index }) => {
      ordinal.lastIndex = index + digits.length;
      const suffix = ordinal.exec(text)?.[0] ?? '';
      return {
        start: index,
        end: index + digits.length + suffix.length,
        value: Number(digits),
        isOrdinal: suffix !== '',
      };
    })
    .filter(({ value, end }) => value >= 1 && value <= DAYS_IN_MONTH && !TIME_OF_DAY.test(text.slice(end, end + 4)));
}

function findLengths(sought: Sought, areBare: boolean): void {
  for (const { start, end, amount, unit, isBare } of lengthsIn(sought.text, sought.language))
    if (isBare === areBare && !isFull(sought))
      add(sought, { start, end, day: after(sought.today, amount, unit), precision: isBare ? 'bare' : 'length' });
}

function after(today: DateTime, amount: number, unit: string): DateTime | null {
  const days = { day: 1, week: 7, fortnight: 14 }[unit];
  if (days !== undefined) return plausible(today.plus({ days: Math.ceil(amount * days) }), today);
  const months = { month: 1, quarter: 3, year: 12 }[unit] ?? 0;
  const whole = Math.floor(amount * months);
  return plausible(today.plus({ months: whole, days: Math.round((amount * months - whole) * 30) }), today);
}

/** Finds weekdays, months, seasons, holidays, and words such as tomorrow or next week. */
function findPhrases(sought: Sought): void {
  const { text, today, language } = sought;
  // A weekday takes the week beside it: "Tuesday next week".
  const isWeekday = (one: Phrase): boolean => sensed(one, 'weekday') !== undefined;
  for (const phrase of [...sought.phrases].sort((a, b) => Number(isWeekday(b)) - Number(isWeekday(a)))) {
    // Prefers the relative meaning, because without diacritics the Vietnamese word for June also means next month.
    const sense =
      phrase.senses.find(({ is }) => is === 'relative') ??
      phrase.senses.find(({ is }) => is !== 'cue' && is !== 'unit' && is !== 'number');
    if (!sense || isGreeting(sought, phrase, sense) || (isShortForm(phrase) && !isNearDate(sought, phrase))) continue;
    const { start, end } = phrase;
    if (sense.is === 'weekday') {
      const week = sought.phrases.find((one) => weekOf(one) !== undefined && isBeside(text, one, phrase));
      const day = week
        ? today.plus({ weeks: weekOf(week)! }).set({ weekday: sense.value as WeekdayNumbers })
        : today.plus({ days: ((sense.value - today.weekday + 6) % 7) + 1 });
      const span = { start: Math.min(start, week?.start ?? start), end: Math.max(end, week?.end ?? end) };
      add(sought, { ...span, day, precision: 'day' });
    } else if (sense.is === 'holiday') {
      const day = holidayOf(sense.value, language, today);
      if (day) add(sought, { start, end, day: day.first, last: day.last, precision: 'day' });
    } else if (sense.is === 'part') {
      const year = YEAR.exec(text.slice(end))?.[1];
      addPeriod(sought, phrase, yearPart(sense.value, today, year === undefined ? undefined : Number(year)));
    } else if (sense.is === 'month') addPeriod(sought, phrase, monthFrom(sought, phrase, sense.value));
    else if (sense.is === 'season') addPeriod(sought, phrase, seasonFrom(sense.value, today));
    else if (sense.is === 'relative') {
      const day = relativeDay(sense.value, today);
      if ('first' in day) addPeriod(sought, phrase, day);
      else add(sought, { start, end, day, precision: 'day' });
    }
  }
}

/** Returns true for greetings such as "Guten Morgen" and phrases such as "por la mañana", which name no day. */
function isGreeting({ text }: Sought, { start }: Phrase, sense: Sense): boolean {
  return sense.value === 'tomorrow' && /(?:guten|goede|gode|la)\s$/u.test(text.slice(Math.max(0, start - 7), start));
}

/** Returns the current or next occurrence of the named month. */
function monthFrom({ text, today }: Sought, { end }: Phrase, month: number): Period | null {
  const year = YEAR.exec(text.slice(end))?.[1];
  const years = year === undefined ? [today.year, today.year + 1] : [Number(year)];
  const periods = years.map((one) => periodOf(today.set({ year: one, month, day: 1 }), 'month'));
  const furthest = today.plus(year === undefined ? { months: MAX_MONTHS } : { years: 1 });
  return periods.find(({ first, last }) => last >= today && first <= furthest) ?? null;
}

function addPeriod(sought: Sought, { start, end }: Phrase, period: Period | null): void {
  if (!period) return add(sought, { start, end, day: null, precision: 'period' });
  const { first, last } = period;
  const part = sought.phrases.find((one) => isBefore(sought.text, one, start) || isBehind(sought.text, one, end));
  const cues = part ? part.senses.flatMap((sense) => (sense.is === 'cue' ? [sense.value] : [])) : [];
  const days = Math.round(last.diff(first, 'days').days);
  // The middle of a month is its 15th day.
  const middle = days < DAYS_IN_MONTH && days > 7 ? MID_MONTH : Math.floor(days / 2);
  const offset: Partial<Record<Cue, number>> = { second_week: 7, third_week: 14, middle, late: days };
  const day = first.plus({ days: cues.map((cue) => offset[cue]).find((one) => one !== undefined) ?? 0 });
  add(sought, { start, end, day: plausible(day, sought.today), last, precision: 'period' });
}

/** Finds quarters, years and week numbers. */
function findShortForms(sought: Sought): void {
  const { text, today } = sought;
  for (const match of text.matchAll(QUARTER)) {
    if (isFull(sought)) return;
    const month = Number(match[1] ?? match[2]) * 3 - 2;
    const span = { start: match.index, end: match.index + match[0].length };
    const first = upcoming({ year: null, month, day: 1 }, today);
    if (first) addPeriod(sought, { ...span, senses: [] }, periodOf(first, 'quarter'));
  }
  for (const match of text.matchAll(BARE_YEAR)) {
    if (isFull(sought)) return;
    const span = { start: match.index, end: match.index + match[0].length };
    const first = upcoming({ year: Number(match[1]), month: 1, day: 1 }, today);
    if (first) addPeriod(sought, { ...span, senses: [] }, periodOf(first, 'year'));
  }
  const week = new RegExp(
    String.raw`(?<!\p{L})(?:kw|cw|wk|s(?=\d)|${weekWords().join('|')})\.?\s?(\d{1,2})(?!\d|[.:/]\d)`,
    'gu',
  );
  for (const match of text.matchAll(week)) {
    if (isFull(sought)) return;
    const span = { start: match.index, end: match.index + match[0].length };
    const weekNumber = Number(match[1]);
    if (weekNumber < 1 || weekNumber > 53) continue;
    const monday = today.set({ weekNumber, weekday: 1 });
    const day = plausible(monday >= today ? monday : monday.plus({ weeks: 52 }).set({ weekNumber }), today);
    add(sought, { ...span, day, precision: 'day' });
  }
}

/**
 * Finds the number of a day without a month: "back on the 22nd". The number is used only if it is next to a date word.
 */
function findLoneDays(sought: Sought): void {
  const { text, today, phrases } = sought;
  for (const number of dayNumbers(sought)) {
    const { start, end, value, isOrdinal } = number;
    if (isFull(sought)) return;
    if (isTaken(sought, number) || isRangeStart(sought, end)) continue;
    const beside = phrases.filter((one) => isBefore(text, one, start) || (one.start >= end && one.start - end <= 2));
    const isCued = beside.some(({ senses }) =>
      senses.some((sense) => sense.is === 'weekday' || (sense.is === 'cue' && sense.value !== 'before_next')),
    );
    if (!isCued && !(isOrdinal && /\p{L}/u.test(text.slice(start, end)))) continue;
    const days = [0, 1, 2].map((months) => today.startOf('month').plus({ months }));
    const day = days
      .filter((month) => value <= month.daysInMonth!)
      .map((month) => month.set({ day: value }))
      .find((one) => one >= today);
    const weekday = beside.find((one) => sensed(one, 'weekday'));
    const from = weekday ? Math.min(weekday.start, start) : start;
    sought.found = sought.found.filter((other) => !weekday || other.start !== weekday.start);
    add(sought, { start: from, end, day: day ?? null, precision: 'day' });
  }
}

/** Returns true if a range continues behind the number of a day: "from 3 to 14 November". */
function isRangeStart({ text, found }: Sought, end: number): boolean {
  const next = found.find(({ start }) => start >= end && start - end <= MAX_BESIDE);
  return (
    next !== undefined && /^[\s.]{0,2}(?:-|\p{L}{1,6}(?:\s\p{L}{1,4}){0,2}\s)\s?$/u.test(text.slice(end, next.start))
  );
}

/** Returns true if a phrase is directly behind a position, with at most one short word between. */
function isBehind(text: string, { start }: Phrase, place: number): boolean {
  return (
    start >= place && start - place <= MAX_BESIDE && /^\s?(?:\p{L}{1,3}\s|の|의\s?)?$/u.test(text.slice(place, start))
  );
}

/** Returns true if a phrase is directly before a position. */
function isBefore(text: string, { end }: Phrase, place: number): boolean {
  return end <= place && place - end <= MAX_BESIDE && BESIDE.test(text.slice(end, place));
}

/** Returns the number of weeks from now that a phrase such as "next week" names. */
function weekOf({ senses }: Phrase): number | undefined {
  const named = senses.flatMap((sense) => (sense.is === 'relative' ? [WEEKS[sense.value]] : []));
  return named.find((weeks) => weeks !== undefined);
}

/** Returns true if two phrases are in one sentence, with at most one short word between them. */
function isBeside(text: string, one: Phrase, other: Phrase): boolean {
  const [first, second] = one.start < other.start ? [one, other] : [other, one];
  const between = text.slice(first.end, second.start);
  return between.length <= MAX_BESIDE && BESIDE.test(between) && !between.includes('.');
}

function sensed(phrase: Phrase, is: 'month' | 'weekday'): Extract<Sense, { value: number }> | undefined {
  return phrase.senses.find((sense): sense is Extract<Sense, { value: number }> => sense.is === is);
}

function isShortForm({ senses }: Phrase): boolean {
  return senses.some((sense) => 'isAbbreviation' in sense && sense.isAbbreviation === true);
}

/**
 * Returns true if a number, a word such as "in" or a cue is next to a short date word. Otherwise the word is not taken
 * as a date: Polish "list" means November, but also a mailed message.
 */
function isNearDate({ text, phrases }: Sought, { start, end }: Phrase): boolean {
  if (start === 0 && end > 2) return true;
  if (
    /(?:\d[.,]?\s?|(?:^|[\s,;])(?:in|im|en|em|i|v|w|u|on|am|le|el|il|prin|din|в|во|у|до)\s)$/u.test(
      text.slice(Math.max(0, start - 8), start),
    )
  )
    return true;
  if (/^\.?,?\s?\d/u.test(text.slice(end, end + 4))) return true;
  return phrases.some((one) => isBefore(text, one, start) && one.senses.some(({ is }) => is === 'cue'));
}

/** Adds one of several possible days: the one that matches the weekday beside the date, or the first future one. */
function addDay(
  sought: Sought,
  span: { start: number; end: number },
  readings: readonly Reading[],
  isOrdered = true,
): void {
  const { text, phrases, today } = sought;
  const days = readings.flatMap((reading) => upcoming(reading, today) ?? []);
  const beside = phrases.find(
    (one) =>
      sensed(one, 'weekday') &&
      (isBefore(text, one, span.start) || (one.start >= span.end && one.start - span.end <= 2)),
  );
  const weekday = beside && sensed(beside, 'weekday')!.value;
  if (!isOrdered) days.sort((a, b) => a.toMillis() - b.toMillis());
  add(sought, {
    start: Math.min(span.start, beside?.start ?? Infinity),
    end: Math.max(span.end, beside?.end ?? 0),
    day: days.find((day) => day.weekday === weekday) ?? days[0] ?? null,
    precision: 'day',
  });
}

function upcoming({ year, month, day }: Reading, today: DateTime): DateTime | null {
  const years = year === null ? [today.year, today.year + 1] : [year];
  const furthest = year === null ? today.plus({ days: MAX_YEARLESS_DAYS }) : today.plus({ years: 1 });
  const days = years.map((each) => DateTime.fromObject({ year: each, month, day }, { zone: today.zone }));
  return days.find((candidate) => candidate.isValid && candidate >= today && candidate <= furthest) ?? null;
}

function plausible(day: DateTime, today: DateTime): DateTime | null {
  return day >= today && day <= today.plus({ years: 1 }) ? day : null;
}
