import { IANAZone } from 'luxon';
import { isIanaZone } from './zone.ts';

/** Returns the time zones that schedules accept, by their offset to UTC (minutes) at a moment and then by name. */
export function timeZones(at: Date): { name: string; offsetMinutes: number }[] {
  return [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])]
    .filter(isIanaZone)
    .map((name) => ({ name, offsetMinutes: Math.round(IANAZone.create(name).offset(at.getTime())) }))
    .toSorted((a, b) => a.offsetMinutes - b.offsetMinutes || (a.name < b.name ? -1 : 1));
}
