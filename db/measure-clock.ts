import type { MeasuredClock } from '../lib/clock.ts';
import { every, type Repeated } from '../lib/every.ts';
import { across } from './across.ts';
import { SERVER_MS, type Db } from './connection.ts';

/** Milliseconds between two measurements of a process's clock, besides the one with each new connection. */
const MEASURE_MS = 30_000;

/**
 * Measures a clock against the database at intervals, until it is stopped. Pools keep connections for long, and clocks
 * drift or are set.
 */
export function measureRegularly(clock: MeasuredClock, db: Db, everyMs = MEASURE_MS): Repeated {
  const measure = () =>
    clock.measure(async () => {
      const [row] = await across(db, 'engine').sql<{ ms: number }>(SERVER_MS);
      return row!.ms;
    });
  return every(everyMs, measure, () => {});
}
