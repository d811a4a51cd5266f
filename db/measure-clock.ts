import type { MeasuredClock } from '../lib/clock.ts';
import { every, type Repeated } from '../lib/every.ts';
import { across } from './across.ts';
import { SERVER_MS, type Db } from './connection.ts';

/** Interval (ms) at which the offset of a process's clock is measured, besides at each new connection. */
const MEASURE_MS = 30_000;

/** Measures a clock against the database now and then, until it is stopped: pools keep connections for long, and clocks drift or are set. */
export function keepMeasured(clock: MeasuredClock, db: Db, everyMs = MEASURE_MS): Repeated {
  const measure = () =>
    clock.measure(async () => {
      const [row] = await across(db, 'engine').sql<{ ms: number }>(SERVER_MS);
      return row!.ms;
    });
  return every(everyMs, measure, () => {});
}
