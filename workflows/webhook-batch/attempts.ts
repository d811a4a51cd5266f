import { condition, setHandler, type SignalDefinition } from '@temporalio/workflow';
import { restartAsNewWhenLong } from '../continue.ts';
import type { Stops } from '../contract.ts';
import { showOpen } from '../show.ts';
import type { BatchReport } from './contract.ts';

/**
 * Attempts the deliveries of a batch until none is left and no signal announces more. Waits for deliveries that are due
 * later.
 * @param args arguments of the workflow
 * @param takeTurn attempts the deliveries that are due now
 * @param more signal that announces more deliveries, if the workflow has one
 * @returns the sum over all iterations of this run
 */
export async function attemptAll(
  stops: Stops,
  args: object,
  takeTurn: () => Promise<BatchReport>,
  more?: SignalDefinition<any>,
): Promise<BatchReport> {
  let again = true;
  if (more)
    setHandler(more, () => {
      again = true;
    });
  const total: BatchReport = { delivered: 0, failed: 0, diverted: 0, more: false };
  while (again) {
    again = false;
    const turn = await takeTurn();
    total.delivered += turn.delivered;
    total.failed += turn.failed;
    total.diverted += turn.diverted;
    showOpen(stops, `${total.delivered} delivered, ${total.failed} failed, ${total.diverted} left to other runs`);
    if (turn.more) again = true;
    if (!again && turn.waitMs !== undefined) {
      await condition(() => again, Math.max(1, turn.waitMs));
      again = true;
    }
    if (again) await restartAsNewWhenLong(args);
  }
  return total;
}
