import { region } from '../../app/preferences.ts';

/** In the order of a week that begins on Monday, which is bit 0 of a campaign's days. */
export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/** The local day of a moment in a zone: YYYY-MM-DD, or written out. */
export function dayOf(at: string | Date, zone: string, form: 'iso' | 'long' = 'iso'): string {
  const moment = new Date(at);
  if (form === 'iso') return new Intl.DateTimeFormat('sv-SE', { timeZone: zone }).format(moment);
  return new Intl.DateTimeFormat(region(), { timeZone: zone, dateStyle: 'full' }).format(moment);
}

/** The moment at which a local day (YYYY-MM-DD) begins in a zone, as ISO 8601 in UTC. */
export function toInstant(day: string, zone: string): string {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  // Twice: the offset at the first guess may be the one of the other side of a change of the clocks.
  let at = midnight;
  for (let turn = 0; turn < 2; turn += 1) at = midnight - offsetMs(at, zone);
  return new Date(at).toISOString();
}

function offsetMs(at: number, zone: string): number {
  const written = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' }).format(
    at,
  );
  return Date.parse(`${written.replace(' ', 'T')}Z`) - Math.floor(at / 1000) * 1000;
}
