import { DRIFT_LIMIT_MS, DRIFT_WARNING_MS, isAdrift, type MeasuredClock } from '../lib/clock.ts';
import { every, type Repeated } from '../lib/every.ts';
import type { Logger } from '../lib/log.ts';
import { across } from './across.ts';
import { SERVER_MS, type Db } from './connection.ts';

/** Interval (ms) between two measurements of a process's clock. New connections also measure it. */
const MEASURE_MS = 30_000;
/** Milliseconds between two checks of the machine's clock, and between two measurements while it is wrong. */
const CHECK_MS = 1_000;

/**
 * Measures a clock against the database at intervals, until it is stopped. Pools keep connections for long, and clocks
 * drift, are set, or stand still while a machine is suspended. Logs when the machine's clock begins or ceases to be
 * wrong.
 */
export function measureRegularly(
  clock: MeasuredClock,
  db: Db,
  log: Pick<Logger, 'info' | 'warn' | 'error'>,
  everyMs = MEASURE_MS,
): Repeated {
  let measureAt = performance.now() + everyMs;
  let logged: Drift = 'none';
  const check = async () => {
    if (performance.now() >= measureAt || isAdrift(clock)) {
      measureAt = performance.now() + everyMs;
      await clock.measure(async () => {
        const [row] = await across(db, 'engine').sql<{ ms: number }>(SERVER_MS);
        return row!.ms;
      });
    }
    const aheadMs = Math.round(clock.aheadMs());
    const drift = driftOf(aheadMs);
    if (drift !== logged) log[LEVELS[drift]]({ aheadMs }, SAID[drift]);
    logged = drift;
  };
  return every('clock', Math.min(CHECK_MS, everyMs), check, () => {});
}

type Drift = 'none' | 'warning' | 'limit';

const LEVELS = { none: 'info', warning: 'warn', limit: 'error' } as const;
const SAID: Readonly<Record<Drift, string>> = {
  none: 'the clock of this machine agrees with PostgreSQL again',
  warning: 'the clock of this machine differs from that of PostgreSQL',
  limit: 'the clock of this machine differs from that of PostgreSQL: a worker takes no work until it is right',
};

function driftOf(aheadMs: number): Drift {
  if (Math.abs(aheadMs) >= DRIFT_LIMIT_MS) return 'limit';
  return Math.abs(aheadMs) >= DRIFT_WARNING_MS ? 'warning' : 'none';
}
