import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import { BLOCKED } from './contract.ts';
import type { Hints } from './hints.ts';
import { waitUntil } from './interruptible.ts';

/** Work that kept failing: PostgreSQL shows the run as blocked, for the reason in `where`. */
export interface Blocked {
  kind: 'blocked';
  where: string;
}

/** The reason with which an activity blocked its run, for people. Rethrows any other error. */
export function blockedReason(error: unknown): string {
  if (isBlocked(error)) return error.cause.message;
  throw error;
}

/** An activity that blocked its run, as a result: `.catch(asBlocked)`. Rethrows any other error. */
export function asBlocked(error: unknown): Blocked {
  return { kind: 'blocked', where: blockedReason(error) };
}

/** Does work by activities. When they kept failing, shows why, and waits for a signal: the run asks again what comes next. */
export async function orBlocked(
  work: () => Promise<unknown>,
  hints: Hints,
  show: (blocked: Blocked) => void,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    const blocked = asBlocked(error);
    show(blocked);
    await waitUntil(null, hints.any, blocked.where);
  }
}

function isBlocked(error: unknown): error is ActivityFailure & { cause: ApplicationFailure } {
  return error instanceof ActivityFailure && error.cause instanceof ApplicationFailure && error.cause.type === BLOCKED;
}
