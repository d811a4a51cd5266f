import { hoursOfWeek } from '../../../messages/hours.ts';
import type { PageTexts } from '../../pages/texts.ts';

/**
 * A schedule as people read it: the days of a campaign with their hours are one entry, and moments are written out. What else its writer put
 * into it stays as it is.
 */
export function readableSchedule(text: PageTexts, schedule: Record<string, unknown>): Record<string, unknown> {
  const { timezone, days, start_time: start, end_time: end, schedule_windows: windows, ...others } = schedule;
  const hours =
    typeof days === 'number'
      ? { sending_hours: hoursOfWeek(schedule, weekdaysIn(text.lang)) }
      : { days, start_time: start, end_time: end, schedule_windows: windows };
  const moments = Object.entries(others).map(([name, value]) => [
    name,
    typeof value === 'string' && ['at', 'start_date', 'end_date'].includes(name) ? momentOf(text, value) : value,
  ]);
  return { timezone, ...hours, ...Object.fromEntries(moments) };
}

/** Writes the names of days in a language. */
const weekdaysIn = (language: string) => new Intl.DateTimeFormat(language, { weekday: 'long', timeZone: 'UTC' });

/** A moment as the page writes it; what is none stays as it is. */
function momentOf(text: PageTexts, value: string): string {
  const at = new Date(value);
  return Number.isNaN(at.getTime()) ? value : text.moment(at);
}
