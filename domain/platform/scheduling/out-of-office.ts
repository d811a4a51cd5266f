import { utcDay } from '../../../lib/clock.ts';
import { DAY, localDay, nextLocalDay, zoneClock } from './zone.ts';

interface AwayMessage {
  readonly receivedAt: Date;
  /** Return date in the auto-reply, YYYY-MM-DD. Null when the message contains none. */
  readonly returnDate: string | null;
  /** The setting `out_of_office_hold_days`, 1 to 90. */
  readonly holdDays: number;
  /** IANA zone whose midnight ends the hold. */
  readonly timezone: string;
}

/**
 * Returns the next working day (Monday to Friday) after a calendar day, both YYYY-MM-DD. Throws RangeError for an
 * invalid day.
 */
export function nextWorkingDay(day: string): string {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight)) throw new RangeError(`not a day: ${day}`);
  const weekday = new Date(midnight).getUTCDay();
  const ahead = weekday === 5 ? 3 : weekday === 6 ? 2 : 1;
  return utcDay(midnight + ahead * DAY);
}

/**
 * Returns the end of an away message's hold: the start of the working day after the return date. Without a future date,
 * the hold lasts `holdDays` times 24 hours from the message. A date in the past is ignored, because it was misread or
 * the auto-reply is outdated.
 */
export function awayHoldEnd({ receivedAt, returnDate, holdDays, timezone }: AwayMessage): Date {
  const fallback = new Date(receivedAt.getTime() + holdDays * DAY);
  if (returnDate === null) return fallback;
  const ends = startOfDay(timezone, nextWorkingDay(returnDate));
  return ends > receivedAt ? ends : fallback;
}

/** Returns the first instant of a zone's local day, or of the next day if the calendar skipped it. */
function startOfDay(timezone: string, day: string): Date {
  const clock = zoneClock(timezone);
  const midnight = Date.parse(`${day}T00:00:00Z`);
  // Begins two days earlier in UTC, because that is an earlier local day in every time zone.
  let at = midnight - 2 * DAY;
  while (localDay(clock, at) * DAY < midnight) at = nextLocalDay(clock, at);
  return new Date(at);
}
