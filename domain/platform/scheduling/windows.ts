import { utcDay } from '../../../lib/clock.ts';
import { openSpan, weekSpans } from './pattern.ts';
import type { Span, WeekPattern } from './pattern.ts';
import { DAY, MINUTE, localDay, nextLocalDay, zoneClock } from './zone.ts';

/** Minutes of a local day, [start, end), within 0 to 1440. */
export interface MinuteWindow {
  readonly start: number;
  readonly end: number;
}

/**
 * Sending schedule of a campaign. Treated as immutable, because compiled data is cached per object.
 * - `windows` applies when it contains any window (seven empty arrays contain none). Otherwise `days`, `startTime` and
 *   `endTime` apply. Overlapping windows merge.
 * - `days` is a bitmask with bit 0 = Monday. Null means weekdays; 0 means that no day is a sending day.
 * - A missing `startTime` is 00:00 and a missing `endTime` is 24:00. Equal times mean the whole day. A start after the
 *   end crosses midnight, and the hours after midnight belong to the day on which the window opened.
 * - `startDate` is the first instant allowed, `endDate` the first instant no longer allowed.
 * - The wall clock decides. An hour that is repeated in autumn is open both times if a window covers it. A window that
 *   the clock change in spring skips entirely opens at the end of the gap, for its full length.
 */
export interface Schedule {
  readonly timezone: string;
  readonly days: number | null;
  readonly startTime: string | null;
  readonly endTime: string | null;
  /** Seven lists by weekday, Sunday = 0. */
  readonly windows: readonly (readonly MinuteWindow[])[] | null;
  readonly startDate: Date | null;
  readonly endDate: Date | null;
}

/** A schedule prepared for calculations. `from` and `until` are its start and end (epoch ms). */
export interface CompiledSchedule {
  readonly pattern: WeekPattern;
  readonly from: number;
  readonly until: number;
}

export const WEEKDAYS = 0b0011111;

const compiled = new WeakMap<Schedule, CompiledSchedule>();

/** Compiles a schedule, once per object. Throws RangeError for input that `scheduleProblems` refuses. */
export function compileSchedule(schedule: Schedule): CompiledSchedule {
  let result = compiled.get(schedule);
  if (result === undefined) {
    const raw = schedule.windows?.some((day) => day.length > 0) ? windowSpans(schedule.windows) : daySpans(schedule);
    result = {
      pattern: { clock: zoneClock(schedule.timezone), spans: weekSpans(raw) },
      from: schedule.startDate?.getTime() ?? -Infinity,
      until: schedule.endDate?.getTime() ?? Infinity,
    };
    compiled.set(schedule, result);
  }
  return result;
}

/**
 * Returns the first open interval ending after `utc` (epoch ms) within the schedule's dates, or null if there is none.
 */
export function nextSpan({ pattern, from, until }: CompiledSchedule, utc: number): Span | null {
  const at = Math.max(utc, from);
  if (at >= until) return null;
  const span = openSpan(pattern, at);
  if (span === null || span.from >= until) return null;
  return { from: Math.max(span.from, from), to: Math.min(span.to, until) };
}

/** Returns true if the schedule allows sending at `at`. */
export function isOpen(schedule: Schedule, at: Date): boolean {
  const span = nextSpan(compileSchedule(schedule), at.getTime());
  return span !== null && span.from <= at.getTime();
}

/**
 * Returns `at` if the schedule is open then, and otherwise the start of the next window. Null after the end date or
 * without windows.
 */
export function nextOpening(schedule: Schedule, at: Date): Date | null {
  const span = nextSpan(compileSchedule(schedule), at.getTime());
  if (span === null) return null;
  return span.from <= at.getTime() ? at : new Date(span.from);
}

/**
 * Returns the local calendar day, YYYY-MM-DD, for which daily limits are counted. Accepts a schedule or an IANA zone
 * name.
 */
export function dayKey(where: Schedule | string, at: Date): string {
  const clock = zoneClock(typeof where === 'string' ? where : where.timezone);
  return utcDay(localDay(clock, at.getTime()) * DAY);
}

/** Returns the first instant of the next local calendar day in the zone, when the counts of daily limits restart. */
export function startOfNextDay(timezone: string, at: Date): Date {
  return new Date(nextLocalDay(zoneClock(timezone), at.getTime()));
}

/** Yields the open intervals in [from, to), in order and disjoint. All in epoch ms. */
export function* spansBetween(plan: CompiledSchedule, from: number, to: number): Generator<Span> {
  let cursor = from;
  while (cursor < to) {
    const span = nextSpan(plan, cursor);
    if (span === null || span.from >= to) return;
    const end = Math.min(span.to, to);
    yield { from: Math.max(span.from, cursor), to: end };
    cursor = end;
  }
}

function windowSpans(windows: NonNullable<Schedule['windows']>): Span[] {
  if (windows.length !== 7) throw new RangeError('schedule windows need seven days');
  return windows.flatMap((day, weekday) =>
    day.map(({ start, end }) => {
      if (!(start >= 0 && start < end && end <= 1440)) throw new RangeError('schedule window out of order');
      return { from: weekday * DAY + start * MINUTE, to: weekday * DAY + end * MINUTE };
    }),
  );
}

function daySpans({ days, startTime, endTime }: Schedule): Span[] {
  const start = startTime === null ? 0 : minuteOfDay(startTime);
  const end = endTime === null ? 1440 : minuteOfDay(endTime);
  if (start === undefined || end === undefined) throw new RangeError('schedule times must be HH:MM');
  const length = start === end ? 1440 : end - start + (end < start ? 1440 : 0);
  const opens = start === end ? 0 : start;
  const spans: Span[] = [];
  for (let bit = 0; bit < 7; bit += 1) {
    if (((days ?? WEEKDAYS) & (1 << bit)) === 0) continue;
    const from = ((bit + 1) % 7) * DAY + opens * MINUTE;
    spans.push({ from, to: from + length * MINUTE });
  }
  return spans;
}

/** Returns the minutes since midnight of an HH:MM time, 00:00 to 23:59. Undefined for any other text. */
export function minuteOfDay(time: string): number | undefined {
  const match = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(time);
  return match === null ? undefined : Number(match[1]) * 60 + Number(match[2]);
}
