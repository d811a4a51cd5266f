/** Formats minutes after midnight as HH:MM. */
export function toClock(minutes: number): string {
  return [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':');
}

/**
 * Returns the sending hours of a week as text: one line for each range of days with the same hours, Monday first.
 * @param schedule schedule of a campaign, as stored in an approval. `schedule_windows` has ranges of minutes for each
 * day, Sunday first. Without windows the hours are `start_time` to `end_time` on its `days` (one bit each, bit 0 is
 * Monday).
 * @param weekdays formats the name of a day, in UTC
 */
export function hoursOfWeek(schedule: Readonly<Record<string, unknown>>, weekdays: Intl.DateTimeFormat): string[] {
  const { days, start_time: start, end_time: end } = schedule;
  const windows = listOf(schedule.schedule_windows).map(listOf) as { start: number; end: number }[][];
  const daily = `${timeOr('00:00', start)}–${timeOr('24:00', end)}`;
  const hoursOn = (day: number) =>
    windows.some((one) => one.length > 0)
      ? (windows[(day + 1) % 7] ?? []).map((one) => `${toClock(one.start)}–${toClock(one.end)}`).join(', ')
      : Number(days) & (1 << day)
        ? daily
        : '';
  const runs: { from: number; to: number; hours: string }[] = [];
  for (let day = 0; day < 7; day += 1) {
    const hours = hoursOn(day);
    const last = runs.at(-1);
    if (last?.to === day - 1 && last.hours === hours) last.to = day;
    else if (hours) runs.push({ from: day, to: day, hours });
  }
  // Uses 1 January 2024, which was a Monday.
  const nameOf = (day: number) => weekdays.format(Date.UTC(2024, 0, 1 + day));
  return runs.map(({ from, to, hours }) => `${nameOf(from)}${to > from ? `–${nameOf(to)}` : ''} ${hours}`);
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const timeOr = (usual: string, time: unknown): string => (typeof time === 'string' && time !== '' ? time : usual);
