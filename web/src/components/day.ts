export const DAY_MS = 86_400_000;

/** Returns the UTC day (YYYY-MM-DD) of a time (ms). */
export function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Returns the UTC day (YYYY-MM-DD) `count` days ago; 0 is today. */
export function daysAgo(count: number): string {
  return toDay(Date.now() - count * DAY_MS);
}
