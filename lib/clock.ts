/** Durations in milliseconds. */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The UTC midnight (epoch ms) after a moment (epoch ms): when the daily counts of mailboxes begin anew. */
export function nextUtcMidnight(at: number): number {
  return (Math.floor(at / DAY_MS) + 1) * DAY_MS;
}

/** The UTC day of a moment (a date, or epoch ms), YYYY-MM-DD. */
export function utcDay(at: Date | number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** The source of time. Injected, so that tests can set it; domain code never calls `new Date()`. */
export interface Clock {
  /** The present moment. */
  now(): Date;
}

/** The machine's own clock. */
export const systemClock: Clock = { now: () => new Date() };

/**
 * Whether a moment lies in the years 0001 to 9999 of UTC, which RFC 3339 can write. An offset leads out of them: `9999-12-31T23:59:59-12:00` is in
 * the year 10000.
 */
export function isWritable(moment: Date): boolean {
  const year = moment.getUTCFullYear();
  return year >= 1 && year <= 9999;
}
