import { DateTime } from 'luxon';
import { isWritable } from '../../../lib/clock.ts';
import { dayKey, minuteOfDay } from './windows.ts';
import { isIanaZone } from './zone.ts';
import { message } from '../../../messages/index.ts';
import type { Problem } from '../../../lib/errors.ts';

/** Schedule fields of a campaign request, with the API's names. Absent and null both mean "not given". */
interface ScheduleInput {
  readonly timezone?: unknown;
  readonly days?: unknown;
  readonly start_time?: unknown;
  readonly end_time?: unknown;
  readonly schedule_windows?: unknown;
  /** RFC 3339 string or a Date. */
  readonly start_date?: unknown;
  readonly end_date?: unknown;
}

/**
 * Returns every problem in a campaign's schedule fields; an empty list means the schedule is valid. With `now`, the
 * start date must also be today (in the campaign's zone) or later, and the end date in the future. Pass `now` when a
 * request sets these dates, not for stored dates.
 */
export function scheduleProblems(input: ScheduleInput, now?: Date): Problem[] {
  const problems: Problem[] = [];
  const { timezone, days } = input;
  const zoneOk = timezone == null || (typeof timezone === 'string' && isIanaZone(timezone));
  if (!zoneOk) problems.push({ path: 'timezone', message: message('field.time_zone') });
  if (days != null && !(Number.isInteger(days) && (days as number) >= 0 && (days as number) <= 127)) {
    problems.push({ path: 'days', message: message('field.days_mask') });
  }
  for (const path of ['start_time', 'end_time'] as const) {
    const time = input[path];
    if (time != null && (typeof time !== 'string' || minuteOfDay(time) === undefined)) {
      problems.push({ path, message: message('field.time_of_day') });
    }
  }
  if (input.schedule_windows != null) problems.push(...windowProblems(input.schedule_windows));
  const zone = zoneOk && typeof timezone === 'string' ? timezone : 'UTC';
  problems.push(...dateProblems(input, zone, now));
  return problems;
}

/**
 * Maximum number of windows per weekday: one per half-hour. The number is limited because each slot calculation reads
 * all windows.
 */
const MAX_WINDOWS = 48;

function windowProblems(windows: unknown): Problem[] {
  const root = 'schedule_windows';
  // Treats an empty list as not set, so that `days`, `start_time` and `end_time` apply.
  if (Array.isArray(windows) && windows.length === 0) return [];
  if (!Array.isArray(windows) || windows.length !== 7) {
    return [{ path: root, message: message('field.windows_week') }];
  }
  return windows.flatMap((day: unknown, weekday) => {
    const path = `${root}.${weekday}`;
    if (!Array.isArray(day)) return [{ path, message: message('field.windows_day') }];
    if (day.length > MAX_WINDOWS) return [{ path, message: message('field.list_longer', { max: MAX_WINDOWS }) }];
    return day.flatMap((window: unknown, index) => oneWindow(window, `${path}.${index}`));
  });
}

function oneWindow(window: unknown, path: string): Problem[] {
  if (typeof window !== 'object' || window === null) return [{ path, message: message('field.window') }];
  const bounds = window as { start?: unknown; end?: unknown };
  const problems: Problem[] = [];
  for (const key of ['start', 'end'] as const) {
    const minute = bounds[key];
    if (!Number.isInteger(minute) || (minute as number) < 0 || (minute as number) > 1440) {
      problems.push({ path: `${path}.${key}`, message: message('field.window_minute') });
    }
  }
  if (problems.length === 0 && (bounds.start as number) >= (bounds.end as number)) {
    problems.push({ path, message: message('field.window_order') });
  }
  return problems;
}

function dateProblems(input: ScheduleInput, zone: string, now: Date | undefined): Problem[] {
  const problems: Problem[] = [];
  const read = (path: 'start_date' | 'end_date'): Date | null => {
    const value = input[path];
    if (value == null) return null;
    const date = value instanceof Date ? value : typeof value === 'string' ? parseInstant(value) : null;
    if (date !== null && isWritable(date)) return date;
    problems.push({ path, message: message('field.timestamp') });
    return null;
  };
  const start = read('start_date');
  const end = read('end_date');
  if (start !== null && now !== undefined && dayKey(zone, start) < dayKey(zone, now)) {
    problems.push({ path: 'start_date', message: message('field.before_today') });
  }
  if (end !== null && now !== undefined && end <= now) {
    problems.push({ path: 'end_date', message: message('field.not_future') });
  } else if (end !== null && start !== null && end <= start) {
    problems.push({ path: 'end_date', message: message('field.after_start') });
  }
  return problems;
}

function parseInstant(value: string): Date | null {
  const rfc3339 = /^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;
  // Uses both checks, because `Date` accepts 30 February as 2 March, and luxon accepts hour 24.
  return rfc3339.test(value) ? DateTime.fromISO(value).toJSDate() : null;
}
