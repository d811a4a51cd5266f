import { setCurrentDetails } from '@temporalio/workflow';
import { blockedReason } from './blocked.ts';
import { continueWhenLong } from './continue.ts';
import type { Hints } from './hints.ts';
import { waitUntil } from './interruptible.ts';

/** What a turn leaves: more to do at once (`why` says how far it is), a wait until then (epoch ms, null for a signal alone), or nothing. */
export type Turn =
  | { kind: 'more'; why?: string }
  | { kind: 'wait'; wakeAt: number | null; why: string }
  | { kind: 'done'; why: string };

/** A turn that kept failing: the run waits until it is retried. */
type Blocked = { kind: 'blocked'; why: string };

/**
 * Takes turns, each an activity that does what is due, until one says that nothing is left and no signal came meanwhile. A turn
 * that kept failing has blocked the run: it waits until it is retried.
 * @param show shows the State of the run, in families by which operators filter
 * @returns why it is over
 */
export async function takeTurns<Args extends object>(
  args: Args,
  hints: Hints,
  takeTurn: (args: Args) => Promise<Turn>,
  show: (state: 'active' | 'blocked') => void = () => {},
): Promise<string> {
  for (;;) {
    hints.take();
    const turn = await takeTurn(args).catch(asBlocked);
    show(turn.kind === 'blocked' ? 'blocked' : 'active');
    if (turn.kind === 'done' && !hints.any()) {
      setCurrentDetails(`finished: ${turn.why}`);
      return turn.why;
    }
    if (turn.kind === 'more' && turn.why) setCurrentDetails(turn.why);
    if (turn.kind === 'wait' || turn.kind === 'blocked') {
      const wakeAt = turn.kind === 'wait' ? turn.wakeAt : null;
      setCurrentDetails(turn.why + (wakeAt === null ? '' : ` until ${new Date(wakeAt).toISOString()}`));
      await waitUntil(wakeAt, hints.any, turn.why);
    }
    await continueWhenLong(args);
  }
}

function asBlocked(error: unknown): Blocked {
  return { kind: 'blocked', why: blockedReason(error) };
}
