import { allHandlersFinished, condition, continueAsNew, workflowInfo } from '@temporalio/workflow';

/**
 * Continues a run as a new one with an empty history where Temporal suggests it, because the history has become long. A run calls it after every turn, with
 * its own arguments: all else that it knows is in PostgreSQL.
 */
export async function restartAsNewWhenLong(args: object): Promise<void> {
  if (workflowInfo().continueAsNewSuggested) await restartAsNew(args);
}

/** Continues a run as a new one with the same arguments. It waits for the handlers of signals first, because one that is cut off would lose its signal. */
export async function restartAsNew(args: object): Promise<never> {
  await condition(allHandlersFinished);
  return continueAsNew(args);
}
