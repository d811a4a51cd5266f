export const DAY_MS = 86_400_000;

/** The UTC day (YYYY-MM-DD) of a moment (ms). */
export function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The UTC day (YYYY-MM-DD) so many days ago; 0 is today. */
export function daysAgo(count: number): string {
  return toDay(Date.now() - count * DAY_MS);
}
