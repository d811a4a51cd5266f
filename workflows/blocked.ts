import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import { BLOCKED } from './contract.ts';
import type { Hints } from './hints.ts';
import { waitUntil } from './interruptible.ts';

/**
 * Result of an activity that failed repeatedly. PostgreSQL marks the workflow as blocked. `where` contains the reason.
 */
export interface Blocked {
  kind: 'blocked';
  where: string;
}

/** Returns the reason why an activity blocked its workflow, for people. Rethrows any other error. */
export function blockedReason(error: unknown): string {
  if (isBlocked(error)) return error.cause.message;
  throw error;
}

/**
 * Converts the failure of an activity that blocked its workflow to a result: `.catch(asBlocked)`. Rethrows any other
 * error.
 */
export function asBlocked(error: unknown): Blocked {
  return { kind: 'blocked', where: blockedReason(error) };
}

/**
 * Runs work that calls activities, and returns its result. If an activity blocked the workflow, shows the reason and
 * waits for a signal. The workflow then requests the next step again.
 */
export async function runOrShowBlocked<T>(
  work: () => Promise<T>,
  hints: Hints,
  show: (blocked: Blocked) => void,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const blocked = asBlocked(error);
    show(blocked);
    await waitUntil(null, hints.any, blocked.where);
    return undefined;
  }
}

function isBlocked(error: unknown): error is ActivityFailure & { cause: ApplicationFailure } {
  return error instanceof ActivityFailure && error.cause instanceof ApplicationFailure && error.cause.type === BLOCKED;
}
