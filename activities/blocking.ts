import { activityInfo, Context } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { systemCtx, type Deps } from '../domain/platform/kernel/context.ts';
import { blockRun, isPassing } from '../domain/operations/system/blocked-runs.ts';
import { errorKind } from '../lib/error-report.ts';
import { BLOCKED } from '../workflows/contract.ts';
import { render } from '../messages/render.ts';

/** State that a failing attempt of an activity passes to the next one in the details of its last heartbeat. */
interface Failing {
  failingSince: number;
  position: number;
}

/**
 * Runs an activity's work and lets the server retry its failures. After RUN_BLOCK_AFTER_MS of failures without
 * progress, marks the workflow as blocked in PostgreSQL and fails the activity without further retries. The workflow
 * then waits until a person or the sweep retries it.
 * @param work receives a function to call with its progress, if it can measure any
 */
export function runOrBlock<T>(
  deps: Deps,
  organizationId: string,
  work: (reached: (position: number) => void) => Promise<T>,
): Promise<T> {
  return runOrGiveUp(deps, work, (error) => failAsBlocked(deps, organizationId, error));
}

/**
 * Marks the activity's workflow as blocked in PostgreSQL.
 * @throws ApplicationFailure always, because the activity fails for the last time
 */
export async function failAsBlocked(deps: Deps, organizationId: string, error: unknown): Promise<never> {
  const workflowId = activityInfo().workflowExecution?.workflowId ?? '';
  const reason = await blockRun(systemCtx(deps, organizationId, workflowId), workflowId, error);
  throw ApplicationFailure.nonRetryable(render(reason), BLOCKED);
}

/**
 * Runs an activity's work and lets the server retry its failures. After RUN_BLOCK_AFTER_MS of failures without
 * progress, calls `giveUp` with the last error and returns its result. Failures do not count while the database is
 * unreachable, nor do ApplicationFailures thrown by the work itself. Histories contain only the kind of a failure. The
 * error's text may contain values, so it is only logged.
 * @param work receives a function to call with its progress, if it can measure any
 */
export async function runOrGiveUp<T>(
  deps: Deps,
  work: (reached: (position: number) => void) => Promise<T>,
  giveUp: (error: unknown) => Promise<T>,
): Promise<T> {
  const { workflowExecution, isLocal, activityType } = activityInfo();
  const context = Context.current();
  const workflowId = workflowExecution?.workflowId;
  const before = failingOf(context.info.heartbeatDetails);
  let since = before?.failingSince;
  let position = before?.position ?? 0;
  try {
    return await work((reached) => {
      if (reached <= position) return;
      position = reached;
      since = undefined;
    });
  } catch (error) {
    if (isTemporalFailure(error) || context.cancellationSignal.aborted) throw error;
    deps.log.warn({ err: error, workflowId, activityType }, 'an activity failed and will be tried again');
    const failure = ApplicationFailure.create({ message: errorKind(error), type: 'unexpected' });
    if (isLocal || isPassing(error)) throw failure;
    const now = deps.clock.now().getTime();
    const failing: Failing = { failingSince: since ?? now, position };
    if (now - failing.failingSince < deps.config.RUN_BLOCK_AFTER_MS) {
      context.heartbeat(failing);
      throw failure;
    }
    deps.log.error(
      { workflowId, reason: errorKind(error), failingSince: new Date(failing.failingSince) },
      'an activity kept failing and is given up',
    );
    return giveUp(error).catch((last: unknown) => {
      if (isTemporalFailure(last)) throw last;
      deps.log.warn({ err: last, workflowId, activityType }, 'giving up failed and will be tried again');
      context.heartbeat(failing);
      throw failure;
    });
  }
}

function failingOf(details: unknown): Failing | undefined {
  return typeof details === 'object' && details !== null && 'failingSince' in details
    ? (details as Failing)
    : undefined;
}

function isTemporalFailure(error: unknown): boolean {
  return error instanceof ApplicationFailure || error instanceof CancelledFailure;
}
