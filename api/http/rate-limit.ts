import { tooManyRequests } from '../../lib/errors.ts';
import type { Clock } from '../../lib/clock.ts';

const WINDOW_MS = 60_000;
const SWEEP_EVERY = 10_000;

interface Window {
  start: number;
  current: number;
  previous: number;
}

/** Answers how long (ms) a caller must wait, or 0 when the request may pass. */
export interface RateLimiter {
  take(key: string, limitPerMinute: number): number;
}

/**
 * A sliding window per key: the count of the running minute plus the share of the last one that still lies inside
 * the past 60 seconds. One process counts for itself.
 */
export function createRateLimiter(clock: Clock): RateLimiter {
  const windows = new Map<string, Window>();
  let calls = 0;
  return {
    take(key, limit) {
      if (limit <= 0) return 0;
      const now = clock.now().getTime();
      const start = now - (now % WINDOW_MS);
      if (++calls % SWEEP_EVERY === 0) {
        for (const [name, window] of windows) if (window.start < start - WINDOW_MS) windows.delete(name);
      }
      let window = windows.get(key);
      if (!window) {
        window = { start, current: 0, previous: 0 };
        windows.set(key, window);
      }
      if (window.start !== start) {
        window.previous = window.start === start - WINDOW_MS ? window.current : 0;
        window.current = 0;
        window.start = start;
      }
      const elapsed = now - start;
      const weighted = window.previous * (1 - elapsed / WINDOW_MS) + window.current;
      if (weighted + 1 > limit) {
        if (window.current + 1 > limit) return WINDOW_MS - elapsed;
        const share = (limit - 1 - window.current) / window.previous;
        return Math.max(1, Math.ceil((1 - share) * WINDOW_MS - elapsed));
      }
      window.current += 1;
      return 0;
    },
  };
}

/** @throws AppError rate_limit_exceeded with Retry-After in whole seconds */
export function refuseIfLimited(waitMs: number, what: string): void {
  if (waitMs <= 0) return;
  throw tooManyRequests(waitMs, what);
}
