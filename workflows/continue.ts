import { allHandlersFinished, condition, continueAsNew, workflowInfo } from '@temporalio/workflow';

/**
 * Continues as a new run with an empty history if Temporal suggests it because of a long history. Workflows call this
 * after every iteration. Their arguments suffice, because all other state is in PostgreSQL.
 */
export async function restartAsNewWhenLong(args: object): Promise<void> {
  if (workflowInfo().continueAsNewSuggested) await restartAsNew(args);
}

/**
 * Continues as a new run with the same arguments. First waits for signal handlers, because an interrupted handler would
 * lose its signal.
 */
export async function restartAsNew(args: object): Promise<never> {
  await condition(allHandlersFinished);
  return continueAsNew(args);
}
