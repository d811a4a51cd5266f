import type { PageTexts } from '../../page-texts/index.ts';

/** Minutes of a day as HH:MM. */
const toClock = (minutes: number): string =>
  [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':');
/** A time of day; the usual one where there is none. */
const timeOr = (usual: string, time: unknown): string => (typeof time === 'string' && time !== '' ? time : usual);
/** A day of the week, 0 for Monday; the first of January 2024 was one. */
const nameOf = (day: number, language: string): string =>
  new Date(Date.UTC(2024, 0, 1 + day)).toLocaleDateString(language, { weekday: 'long', timeZone: 'UTC' });

/**
 * A schedule as people read it: the days of a campaign with their hours are one entry, and moments are written out. What else its writer put
 * into it stays as it is.
 */
export function readableSchedule(text: PageTexts, schedule: Record<string, unknown>): Record<string, unknown> {
  const { timezone, days, start_time: start, end_time: end, schedule_windows: windows, ...others } = schedule;
  const hours =
    typeof days === 'number'
      ? { sending_hours: hoursOfWeek(text.lang, days, `${timeOr('00:00', start)}–${timeOr('24:00', end)}`, windows) }
      : { days, start_time: start, end_time: end, schedule_windows: windows };
  const moments = Object.entries(others).map(([name, value]) => [
    name,
    typeof value === 'string' && ['at', 'start_date', 'end_date'].includes(name) ? momentOf(text, value) : value,
  ]);
  return { timezone, ...hours, ...Object.fromEntries(moments) };
}

/**
 * A line for each run of days with the same hours, Monday first.
 * @param days a bit for each day, bit 0 for Monday
 * @param daily hours of those days, unless `windows` has some: minutes of each day, Sunday first
 */
function hoursOfWeek(language: string, days: number, daily: string, windows: unknown): string[] {
  const perDay = (Array.isArray(windows) ? windows : []) as { start: number; end: number }[][];
  const hoursOn = (day: number) =>
    perDay.some((one) => one.length > 0)
      ? (perDay[(day + 1) % 7] ?? []).map((one) => `${toClock(one.start)}–${toClock(one.end)}`).join(', ')
      : days & (1 << day)
        ? daily
        : '';
  const runs: { from: number; to: number; hours: string }[] = [];
  for (let day = 0; day < 7; day += 1) {
    const hours = hoursOn(day);
    const last = runs.at(-1);
    if (last?.to === day - 1 && last.hours === hours) last.to = day;
    else if (hours) runs.push({ from: day, to: day, hours });
  }
  return runs.map(
    ({ from, to, hours }) => `${nameOf(from, language)}${to > from ? `–${nameOf(to, language)}` : ''} ${hours}`,
  );
}

/** A moment as the page writes it; what is none stays as it is. */
function momentOf(text: PageTexts, value: string): string {
  const at = new Date(value);
  return Number.isNaN(at.getTime()) ? value : text.moment(at);
}
