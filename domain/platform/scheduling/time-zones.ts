import { IANAZone } from 'luxon';
import { HOUR_MS } from '../../../lib/clock.ts';
import { createSlices } from '../../../lib/slices.ts';

/** A time zone that schedules accept, with its present offset to UTC (minutes). */
interface TimeZone {
  name: string;
  offsetMinutes: number;
}

/**
 * Cached list of time zones, recomputed every hour. Computing it takes a second of processor time, because each zone
 * needs a formatter. Offsets change rarely.
 */
let known: { hour: number; zones: Promise<TimeZone[]> } | undefined;

/**
 * Returns the time zones that schedules accept, by their offset to UTC at the hour of a given time and then by name.
 */
export function timeZones(at: Date): Promise<TimeZone[]> {
  const hour = Math.floor(at.getTime() / HOUR_MS);
  if (known?.hour !== hour) known = { hour, zones: listZones(hour * HOUR_MS) };
  return known.zones;
}

async function listZones(at: number): Promise<TimeZone[]> {
  const slice = createSlices();
  const zones: TimeZone[] = [];
  for (const name of new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])) {
    zones.push({ name, offsetMinutes: Math.round(IANAZone.create(name).offset(at)) });
    await slice();
  }
  return zones.toSorted((a, b) => a.offsetMinutes - b.offsetMinutes || (a.name < b.name ? -1 : 1));
}
