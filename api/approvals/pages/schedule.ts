import { hoursOfWeek } from '../../../messages/hours.ts';
import type { PageTexts } from '../../pages/texts.ts';

/**
 * Formats a schedule for people: the days and hours of a campaign become one entry, and times become readable text.
 * Other keys stay unchanged.
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

/** Formats weekday names in a language. */
const weekdaysIn = (language: string) => new Intl.DateTimeFormat(language, { weekday: 'long', timeZone: 'UTC' });

/** Formats a time for the page. Returns the text unchanged if it is not a date. */
function momentOf(text: PageTexts, value: string): string {
  const at = new Date(value);
  return Number.isNaN(at.getTime()) ? value : text.moment(at);
}
