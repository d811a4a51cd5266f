import { DAY_MS, utcDay } from '../../../lib/clock.ts';
import type { HourRange } from '../aggregates/read.ts';

/** UTC days, both included: YYYY-MM-DD. */
export interface DayRange {
  from: string;
  to: string;
}

/** Days that a report covers at most. */
export const MAX_DAYS = 366;

/** From the begin of the first day to the end of the last. */
export function hoursOf({ from, to }: DayRange): HourRange {
  return { from: new Date(`${from}T00:00:00Z`), to: new Date(Date.parse(`${to}T00:00:00Z`) + DAY_MS) };
}

/** All days of a range in order, also those on which nothing happened. */
export function daysOf({ from, to }: DayRange): string[] {
  const days: string[] = [];
  for (let at = Date.parse(`${from}T00:00:00Z`); at <= Date.parse(`${to}T00:00:00Z`); at += DAY_MS)
    days.push(utcDay(new Date(at)));
  return days;
}

/** The last `count` UTC days, today included. */
export function lastDays(now: Date, count: number): DayRange {
  return { from: utcDay(new Date(now.getTime() - (count - 1) * DAY_MS)), to: utcDay(now) };
}

/** Percent of a whole, to two decimals; 0 of nothing. */
export function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 100;
}
