import { allHandlersFinished, condition, continueAsNew, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import { blockedReason } from './blocked.ts';
import type { Hints } from './hints.ts';
import { waitUntil } from './interruptible.ts';

/** What a turn leaves: more to do at once (`why` says how far it is), a wait until then (epoch ms, null for a signal alone), or nothing. */
export type Turn =
  | { kind: 'more'; why?: string }
  | { kind: 'wait'; wakeAt: number | null; why: string }
  | { kind: 'done'; why: string };

/**
 * Takes turns, each an activity that does what is due, until one says that nothing is left and no signal came meanwhile. A turn
 * that kept failing has blocked the run: it waits until it is retried.
 * @returns why it is over
 */
export async function takeTurns<Args extends object>(
  args: Args,
  hints: Hints,
  takeTurn: (args: Args) => Promise<Turn>,
): Promise<string> {
  for (;;) {
    hints.take();
    const turn = await takeTurn(args).catch(asWait);
    if (turn.kind === 'done' && !hints.any()) {
      setCurrentDetails(`finished: ${turn.why}`);
      return turn.why;
    }
    if (turn.kind === 'more' && turn.why) setCurrentDetails(turn.why);
    if (turn.kind === 'wait') {
      const until = turn.wakeAt === null ? '' : ` until ${new Date(turn.wakeAt).toISOString()}`;
      setCurrentDetails(`${turn.why}${until}`);
      await waitUntil(turn.wakeAt, hints.any, turn.why);
    }
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew(args);
    }
  }
}

function asWait(error: unknown): Turn {
  return { kind: 'wait', wakeAt: null, why: blockedReason(error) };
}
