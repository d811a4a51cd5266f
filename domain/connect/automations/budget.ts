import { HOUR_MS } from '../../../lib/clock.ts';
import type { Tx } from '../../platform/kernel/transact.ts';

/** Runs that other runs led to which a workspace may begin in an hour (UTC), whatever happens in it. */
export const LED_RUNS = 10_000;
/** So many more for each run that an event from outside led to. */
const LED_RUNS_EACH = 50;
/** Counts end here: nobody gets this far within an hour. */
const MAX_COUNT = 1_000_000_000;

/**
 * Counts runs that are about to begin, and says how many of those that others led to may. The limit of reactions in a row bounds how long a chain of runs
 * gets, and this how wide: without it a run that calls ten more, which call ten each, would become ten millions.
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
  const room = LED_RUNS + LED_RUNS_EACH * counts!.first_runs - (counts!.led_runs - led);
  return Math.max(0, Math.min(led, room));
}
