import { utcDay } from '../../../lib/clock.ts';
import { DAY, localDay, nextLocalDay, zoneClock } from './zone.ts';

interface AwayMessage {
  readonly receivedAt: Date;
  /** The return date read from the auto-reply, YYYY-MM-DD, or null when none could be read. */
  readonly returnDate: string | null;
  /** out_of_office_hold_days, 1 to 90. */
  readonly holdDays: number;
  /** The IANA zone whose midnight ends the hold. */
  readonly timezone: string;
}

/** The working day (Monday to Friday) after a calendar day; both YYYY-MM-DD. Throws RangeError on no such day. */
export function nextWorkingDay(day: string): string {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight)) throw new RangeError(`not a day: ${day}`);
  const weekday = new Date(midnight).getUTCDay();
  const ahead = weekday === 5 ? 3 : weekday === 6 ? 2 : 1;
  return utcDay(midnight + ahead * DAY);
}

/**
 * Until when an away message holds the contact's next step: the start of the working day after the return date, or
 * `holdDays` times 24 hours after the message when there is no date or its hold would already be over, which a misread
 * date or an old auto-reply text would give.
 */
export function awayHoldEnds({ receivedAt, returnDate, holdDays, timezone }: AwayMessage): Date {
  const fallback = new Date(receivedAt.getTime() + holdDays * DAY);
  if (returnDate === null) return fallback;
  const ends = startOfDay(timezone, nextWorkingDay(returnDate));
  return ends > receivedAt ? ends : fallback;
}

/** The first instant of a zone's local day, or of the next one where the calendar skipped it. */
function startOfDay(timezone: string, day: string): Date {
  const clock = zoneClock(timezone);
  const midnight = Date.parse(`${day}T00:00:00Z`);
  // Two days earlier in UTC is an earlier day everywhere, whatever the offset.
  let at = midnight - 2 * DAY;
  while (localDay(clock, at) * DAY < midnight) at = nextLocalDay(clock, at);
  return new Date(at);
}
