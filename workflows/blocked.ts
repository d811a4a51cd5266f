import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import { BLOCKED } from './contract.ts';

/** The reason with which an activity blocked its run, for people. Rethrows any other error. */
export function blockedReason(error: unknown): string {
  if (isBlocked(error)) return error.cause.message;
  throw error;
}

function isBlocked(error: unknown): error is ActivityFailure & { cause: ApplicationFailure } {
  return error instanceof ActivityFailure && error.cause instanceof ApplicationFailure && error.cause.type === BLOCKED;
}
