import { allHandlersFinished, condition, continueAsNew, workflowInfo } from '@temporalio/workflow';

/**
 * Continues as a new run with an empty history if Temporal suggests it because the history is long. A workflow calls it
 * after every iteration with its own arguments, because all other state is in PostgreSQL.
 */
export async function restartAsNewWhenLong(args: object): Promise<void> {
  if (workflowInfo().continueAsNewSuggested) await restartAsNew(args);
}

/**
 * Continues as a new run with the same arguments. Waits for signal handlers first, because an interrupted one would
 * lose its signal.
 */
export async function restartAsNew(args: object): Promise<never> {
  await condition(allHandlersFinished);
  return continueAsNew(args);
}
