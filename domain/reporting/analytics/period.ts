import { DAY_MS, utcDay } from '../../../lib/clock.ts';
import type { HourRange } from '../aggregates/read.ts';

/** A range of UTC days (YYYY-MM-DD), both included. */
export interface DayRange {
  from: string;
  to: string;
}

/** Maximum number of days in a report. */
export const MAX_DAYS = 366;

/** Returns the range from the start of the first day to the end of the last. */
export function hoursOf({ from, to }: DayRange): HourRange {
  return { from: new Date(`${from}T00:00:00Z`), to: new Date(Date.parse(`${to}T00:00:00Z`) + DAY_MS) };
}

/** Returns all days of a range in order, including empty ones. */
export function daysOf({ from, to }: DayRange): string[] {
  const days: string[] = [];
  for (let at = Date.parse(`${from}T00:00:00Z`); at <= Date.parse(`${to}T00:00:00Z`); at += DAY_MS)
    days.push(utcDay(new Date(at)));
  return days;
}

/** Returns the last `count` UTC days, today included. */
export function lastDays(now: Date, count: number): DayRange {
  return { from: utcDay(new Date(now.getTime() - (count - 1) * DAY_MS)), to: utcDay(now) };
}

/** Returns a part as a percentage of a whole, rounded to two decimals. 0 if the whole is 0. */
export function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 100;
}
