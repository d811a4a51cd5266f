import { HOUR_MS } from '../../../lib/clock.ts';
import type { Tx } from '../../platform/kernel/transact.ts';

/** Base number of runs per workspace and hour (UTC) that other runs may start. */
export const STARTED_RUNS = 10_000;
/** Additional runs allowed for each run that an external event started. */
const STARTED_RUNS_EACH = 50;
/** Upper bound of the stored counters, far above the possible number in an hour. */
const MAX_COUNT = 1_000_000_000;

/**
 * Counts new runs. `first` runs are started by events, and `led` runs by other runs. Returns the number of `led` runs
 * that may begin. The hop limit bounds the length of a chain of runs; this budget bounds its breadth. Without the
 * budget, a run that starts ten more, each of which starts ten more, would grow exponentially.
 */
export async function spendBudget(tx: Tx, { first, led }: { first: number; led: number }): Promise<number> {
  const hour = new Date(Math.floor(tx.now.getTime() / HOUR_MS) * HOUR_MS);
  const [counts] = await tx.org.sql<{ first_runs: number; led_runs: number }>(
    `insert into automation_budgets as b (organization_id, hour, first_runs, led_runs) values (:org, :hour, :first, :led)
     on conflict (organization_id) do update set hour = excluded.hour,
       first_runs = least(:most, excluded.first_runs + case when b.hour = excluded.hour then b.first_runs else 0 end),
       led_runs = least(:most, excluded.led_runs + case when b.hour = excluded.hour then b.led_runs else 0 end)
     returning first_runs, led_runs`,
    { hour, first, led, most: MAX_COUNT },
  );
  const room = STARTED_RUNS + STARTED_RUNS_EACH * counts!.first_runs - (counts!.led_runs - led);
  return Math.max(0, Math.min(led, room));
}
