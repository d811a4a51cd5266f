import { setCurrentDetails } from '@temporalio/workflow';
import { asBlocked, type Blocked } from './blocked.ts';
import { restartAsNewWhenLong } from './continue.ts';
import type { Stops } from './contract.ts';
import type { Hints } from './hints.ts';
import { waitUntil, waitUntilWorkerTime } from './interruptible.ts';
import { showOpen, showState } from './show.ts';

/**
 * Result of one iteration: `more` if work is due at once (`why` shows the progress), `wait` until a time, or `done` if
 * no work is left. Times are epoch ms; null means that only a signal ends the wait.
 */
export type Iteration = (
  | { kind: 'more'; why?: string }
  | { kind: 'wait'; wakeAt: number | null; why: string }
  | { kind: 'done'; why: string }
) & {
  /** Value of the search attribute State. Defaults to `active`. */
  state?: string;
  /** Id of the campaign, for a workflow whose arguments do not contain it. */
  campaignId?: string;
};

/**
 * Repeats an activity that performs due work, until no work is left and no signal has arrived. If the activity reports
 * that the workflow is blocked, waits until a person or the sweep retries it.
 * @returns the reason why the workflow ends
 */
export async function iterateUntilDone<Args extends object>(
  stops: Stops,
  args: Args,
  hints: Hints,
  takeTurn: (args: Args) => Promise<Iteration | Blocked>,
): Promise<string> {
  const show = showState();
  for (;;) {
    hints.take();
    const turn = await takeTurn(args).catch(asBlocked);
    if (turn.kind === 'blocked') {
      show({ state: 'blocked' });
      showOpen(stops, turn.where);
      await waitUntil(null, hints.any, turn.where);
      await restartAsNewWhenLong(args);
      continue;
    }
    const wakeAt = turn.kind === 'wait' ? turn.wakeAt : null;
    show({ state: turn.state ?? 'active', until: wakeAt, campaignId: turn.campaignId });
    if (turn.kind === 'done' && !hints.any()) {
      setCurrentDetails(`finished: ${turn.why}`);
      return turn.why;
    }
    if (turn.kind !== 'done' && turn.why) showOpen(stops, turn.why, wakeAt);
    if (turn.kind === 'wait') await waitUntilWorkerTime(wakeAt, hints.any, turn.why);
    await restartAsNewWhenLong(args);
  }
}
