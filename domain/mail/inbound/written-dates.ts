import { DateTime } from 'luxon';
import { MONTHS, MONTH_PATTERN, WEEKDAYS, WEEKDAY_PATTERN } from './date-words.ts';
import { anyOf } from './patterns.ts';

/** A date as written: where it stands in the folded text, and every calendar day it may mean. */
export interface WrittenDate {
  readonly start: number;
  readonly end: number;
  readonly day: DateTime | null;
}

interface Reading {
  readonly year: number | null;
  readonly month: number;
  readonly day: number;
}

const MAX_DATES = 40;
/** A day without a year that lies further ahead than this was more likely meant to be in the recent past. */
const MAX_YEARLESS_DAYS = 300;

const ISO = String.raw`(?<isoYear>20\d\d)[-/.]\s?(?<isoMonth>\d{1,2})[-/.]\s?(?<isoDay>\d{1,2})(?!\d)`;
/** Not two numbers joined by a dash without a year, which are a range, nor a time of day. */
const NUMERIC = [
  String.raw`(?!\d{1,2}-\d{1,2}(?!-\d))(?<first>\d{1,2})(?<separator>[./-])\s?(?<second>\d{1,2})(?!\d)`,
  String.raw`(?:\k<separator>\s?(?<year>20\d\d|\d\d)(?![\d:]))?\.?(?!\s?(?:uhr|h\b|am\b|pm\b|%))`,
].join('');
const DAY_MONTH = [
  String.raw`(?<day>\d{1,2})(?:st|nd|rd|th|er|o|\.)?[\s-]{1,3}(?:of\s|de\s|del\s|di\s|p\.\s?)?`,
  String.raw`(?<month>${MONTH_PATTERN})(?!\p{L})\.?(?:,?[\s-]{1,2}(?:de\s|del\s)?(?<dayYear>20\d\d))?`,
].join('');
const MONTH_DAY = [
  String.raw`(?:(?<yearFirst>20\d\d)\.?\s)?(?<monthFirst>${MONTH_PATTERN})\.?\s(?:the\s)?`,
  String.raw`(?<dayAfter>\d{1,2})(?!\d|[:.]\d\d)(?:st|nd|rd|th)?\.?(?:,?\s(?<yearLast>20\d\d))?`,
].join('');
const DATE = anyOf(
  [ISO, NUMERIC, DAY_MONTH, MONTH_DAY],
  'gu',
  [
    String.raw`(?<![\p{L}\p{N}./:])(?:(?<weekday>${WEEKDAY_PATTERN})(?:\.|,|\b){1,2}\s*`,
    String.raw`(?:(?:the|dem|den|der|le|el|il|dia|o)\s)?\s*)?`,
  ].join(''),
);
/** Chinese and Japanese dates stand between characters without spaces. */
const EAST_ASIAN = /(?:(?<isoYear>20\d\d)年\s?)?(?<isoMonth>\d{1,2})月\s?(?<isoDay>\d{1,2})[日号號]/gu;
const WEEKDAY = new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${WEEKDAY_PATTERN})(?![\p{L}\p{N}])`, 'gu');
/** Not "good morning" nor "in the morning", for which German and Spanish have the same word. */
const TOMORROW = anyOf(
  [
    'i morgen|imorgon|huomenna|zitra|завтра|yarın|tomorrow|(?<!guten )morgen|demain|(?<!la )manana|domani|amanha|jutro|holnap',
  ],
  'gu',
  String.raw`(?<!\p{L})`,
  String.raw`(?!\p{L})`,
);
const NEXT_WEEK = anyOf(
  [
    'next week|naeste uge|næste uge|nasta vecka|neste uke|ensi viikolla|pristi tyden|на следующеи неделе|наступного тижня|gelecek hafta|haftaya|nachste[rn]? woche|kommende[rn]? woche|la semaine prochaine',
    'proxima semana|la semana que viene|(?:la )?(?:prossima settimana|settimana prossima)',
    'volgende week|przyszlym tygodniu|jovo heten',
  ],
  'gu',
  String.raw`(?<!\p{L})`,
  String.raw`(?!\p{L})`,
);

/**
 * Finds the dates written in folded text (see `fold`), in order, at most 40, each resolved to the day it most
 * plausibly means, or null when that is in the past or more than a year ahead.
 *
 * Between readings (`3/12` is 3 December or March 12th; no year) a weekday written beside the date decides,
 * then the nearest day to come. Dots mean day first; four leading digits mean year first. A lone weekday is
 * its next one.
 *
 * @param today the day the text was written, in the writer's time zone
 */
export function writtenDates(text: string, today: DateTime): WrittenDate[] {
  const dates: WrittenDate[] = [];
  for (const match of text.matchAll(DATE)) {
    const readings = readingsOf(match.groups ?? {});
    const weekday = WEEKDAYS.get(match.groups?.weekday ?? '') ?? null;
    dates.push({ ...span(match), day: resolve(readings, weekday, today) });
    if (dates.length >= MAX_DATES) return dates;
  }
  for (const match of text.matchAll(EAST_ASIAN)) {
    const { isoYear, isoMonth, isoDay } = match.groups ?? {};
    const reading = { year: isoYear ? Number(isoYear) : null, month: Number(isoMonth), day: Number(isoDay) };
    dates.push({ ...span(match), day: resolve([reading], null, today) });
    if (dates.length >= MAX_DATES) break;
  }
  const relative: WrittenDate[] = [
    ...Array.from(text.matchAll(WEEKDAY), (match) => ({
      ...span(match),
      day: nextWeekday(WEEKDAYS.get(match[0]) ?? 1, today),
    })),
    ...Array.from(text.matchAll(TOMORROW), (match) => ({ ...span(match), day: today.plus({ days: 1 }) })),
    ...Array.from(text.matchAll(NEXT_WEEK), (match) => ({ ...span(match), day: nextWeekday(1, today) })),
  ];
  const apart = relative.filter((one) => !dates.some((date) => one.start < date.end && date.start < one.end));
  return [...dates, ...apart].sort((a, b) => a.start - b.start).slice(0, MAX_DATES);
}

function span(match: RegExpExecArray): { start: number; end: number } {
  return { start: match.index, end: match.index + match[0].length };
}

function readingsOf(groups: Readonly<Record<string, string | undefined>>): Reading[] {
  const number = (value: string | undefined): number => Number(value ?? Number.NaN);
  if (groups.isoYear !== undefined) {
    return [{ year: number(groups.isoYear), month: number(groups.isoMonth), day: number(groups.isoDay) }];
  }
  if (groups.first !== undefined) return numericReadings(groups);
  const name = groups.month ?? groups.monthFirst ?? '';
  const year = groups.dayYear ?? groups.yearFirst ?? groups.yearLast;
  return [
    {
      year: year === undefined ? null : Number(year),
      month: MONTHS.get(name) ?? Number.NaN,
      day: number(groups.day ?? groups.dayAfter),
    },
  ];
}

function numericReadings(groups: Readonly<Record<string, string | undefined>>): Reading[] {
  const [first, second] = [Number(groups.first), Number(groups.second)];
  const year = groups.year === undefined ? null : (Number(groups.year) % 100) + 2000;
  const dayFirst = { year, month: second, day: first };
  if (groups.separator === '.') return [dayFirst];
  return [dayFirst, { year, month: first, day: second }];
}

function resolve(readings: readonly Reading[], weekday: number | null, today: DateTime): DateTime | null {
  const days = readings.flatMap((reading) => upcoming(reading, today) ?? []);
  const agreeing = days.filter((day) => day.weekday === weekday);
  const plausible = agreeing.length > 0 ? agreeing : days;
  return plausible.sort((a, b) => a.toMillis() - b.toMillis())[0] ?? null;
}

function upcoming({ year, month, day }: Reading, today: DateTime): DateTime | null {
  const years = year === null ? [today.year, today.year + 1] : [year];
  const furthest = year === null ? today.plus({ days: MAX_YEARLESS_DAYS }) : today.plus({ years: 1 });
  const days = years.map((each) => DateTime.fromObject({ year: each, month, day }, { zone: today.zone }));
  return days.find((candidate) => candidate.isValid && candidate >= today && candidate <= furthest) ?? null;
}

function nextWeekday(weekday: number, today: DateTime): DateTime {
  return today.plus({ days: ((weekday - today.weekday + 6) % 7) + 1 });
}
