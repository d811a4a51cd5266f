import { region } from '../../app/preferences.ts';
import { DAY_MS, toDay } from '../../components/day.ts';
import { toClock } from '../../../../messages/hours.ts';
import type { Campaign } from './flow.ts';

/** Weekdays from Monday, which is bit 0 of a campaign's days. */
export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/** Returns the local day of a time in a zone: YYYY-MM-DD, or written out. */
export function dayOf(at: string | Date, zone: string, form: 'iso' | 'long' = 'iso'): string {
  const moment = new Date(at);
  if (form === 'iso') return new Intl.DateTimeFormat('sv-SE', { timeZone: zone }).format(moment);
  return new Intl.DateTimeFormat(region(), { timeZone: zone, dateStyle: 'full' }).format(moment);
}

/** Returns the start of a local day (YYYY-MM-DD) in a zone, as ISO 8601 in UTC. */
export function toInstant(day: string, zone: string): string {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  // Needs two passes, because the clock may change between the first guess and the result.
  let at = midnight;
  for (let turn = 0; turn < 2; turn += 1) at = midnight - offsetMs(at, zone);
  return new Date(at).toISOString();
}

/**
 * Returns the next sending time of a campaign: null if it may send now, otherwise the local day (YYYY-MM-DD) and time
 * (HH:MM) in its zone. Undefined if no sending hours are left.
 */
export function nextHours(campaign: Campaign, now = new Date()): { day: string; clock: string } | null | undefined {
  const { timezone: zone, start_date: start, end_date: end } = campaign;
  const from = start && Date.parse(start) > now.getTime() ? new Date(start) : now;
  const windows = campaign.schedule_windows.some((one) => one.length > 0)
    ? campaign.schedule_windows
    : toWindows(campaign);
  const today = dayOf(from, zone);
  const minute = toMinutes(
    new Intl.DateTimeFormat('sv-SE', { timeZone: zone, hour: '2-digit', minute: '2-digit' }).format(from),
  );
  for (let ahead = 0; ahead <= 7; ahead += 1) {
    const day = toDay(Date.parse(`${today}T00:00:00Z`) + ahead * DAY_MS);
    if (end && day >= dayOf(end, zone)) return undefined;
    const open = (windows[new Date(day).getUTCDay()] ?? [])
      .filter((one) => ahead > 0 || one.end > minute)
      .toSorted((one, other) => one.start - other.start)[0];
    if (!open) continue;
    if (ahead === 0 && open.start <= minute) return from === now ? null : { day, clock: toClock(minute) };
    return { day, clock: toClock(open.start) };
  }
  return undefined;
}

/** Converts the days and hours of a schedule to windows of each day, from Sunday, in minutes after midnight. */
export function toWindows({ days, start_time: from, end_time: to }: Campaign): Campaign['schedule_windows'] {
  const [start, end] = [toMinutes(from || '00:00'), toMinutes(to || '24:00') || 1440];
  return Array.from({ length: 7 }, (_, sunday) =>
    days & (1 << ((sunday + 6) % 7)) && start < end ? [{ start, end }] : [],
  );
}

/** Converts HH:MM to minutes after midnight. */
export function toMinutes(clock: string): number {
  const [hours, minutes] = clock.split(':').map(Number);
  return (hours ?? 0) * 60 + (minutes ?? 0);
}

function offsetMs(at: number, zone: string): number {
  const written = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' }).format(
    at,
  );
  return Date.parse(`${written.replace(' ', 'T')}Z`) - Math.floor(at / 1000) * 1000;
}
