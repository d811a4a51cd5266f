import {
  allHandlersFinished,
  condition,
  setCurrentDetails,
  setHandler,
  workflowInfo,
  type SignalDefinition,
} from '@temporalio/workflow';
import type { BatchReport } from './contract.ts';

/**
 * Takes turns at the deliveries of a batch until none is left and no signal says that there are more.
 * @param more the signal
 * @param takeTurn attempts what waits now
 * @param continueAnew continues the run as a new one; it does not return
 * @returns the sum of all turns of this run
 */
export async function attemptAll(
  more: SignalDefinition<any>,
  takeTurn: () => Promise<BatchReport>,
  continueAnew: () => Promise<never>,
): Promise<BatchReport> {
  let again = true;
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
    setCurrentDetails(`${total.delivered} delivered, ${total.failed} failed, ${total.diverted} left to other runs`);
    if (turn.more) again = true;
    if (again && workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAnew();
    }
  }
  return total;
}
