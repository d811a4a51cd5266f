import { activityInfo, Context } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { systemCtx, type Deps } from '../domain/platform/kernel/context.ts';
import { blockRun, isPassing } from '../domain/operations/system/blocked-runs.ts';
import { errorKind } from '../lib/error-report.ts';
import { BLOCKED } from '../workflows/contract.ts';
import type { Message } from '../messages/index.ts';
import { render } from '../messages/render.ts';

/** State that a failing attempt of an activity passes to the next one in the details of its last heartbeat. */
interface Failing {
  /** Time (epoch ms) of the first failure of the current series. */
  retryingSince: number;
  /** Variant of `retryingSince` that ignores temporary failures, such as an unreachable database. */
  failingSince?: number;
  /** Time (epoch ms) of the latest failure. */
  failedAt: number;
  position: number;
}

/**
 * Shortest and longest delay (ms) before the next attempt. Temporal's own backoff also counts attempts that only waited
 * for a busy target, so the next failure would wait for minutes.
 */
const RETRY = { shortest: 500, longest: 30_000 };

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
 * @param why reason for people; default: the kind of the error
 * @throws ApplicationFailure always, because the activity fails for the last time
 */
export async function failAsBlocked(deps: Deps, organizationId: string, error: unknown, why?: Message): Promise<never> {
  const workflowId = activityInfo().workflowExecution?.workflowId ?? '';
  const reason = await blockRun(systemCtx(deps, organizationId, workflowId), workflowId, error, why);
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
  // If more than Temporal's retry delay passed between two failures, there was an attempt with another outcome between
  // them.
  const isRow =
    before && deps.clock.now().getTime() - before.failedAt <= deps.config.RUN_BLOCK_AFTER_MS + RETRY.longest;
  let since = isRow ? before.failingSince : undefined;
  let retryingSince = isRow ? before.retryingSince : undefined;
  let position = before?.position ?? 0;
  try {
    return await work((reached) => {
      if (reached <= position) return;
      position = reached;
      since = retryingSince = undefined;
    });
  } catch (error) {
    const isTemporal = isTemporalFailure(error);
    // A failure thrown by the work itself ends the series of failures, because the work has decided.
    if (isTemporal && before) context.heartbeat();
    if (isTemporal || context.cancellationSignal.aborted) throw error;
    deps.log.warn({ err: error, workflowId, activityType }, 'an activity failed and will be tried again');
    const now = deps.clock.now().getTime();
    retryingSince ??= now;
    const failure = ApplicationFailure.create({
      message: errorKind(error),
      type: 'unexpected',
      ...(isLocal ? {} : { nextRetryDelay: retryDelay(now - retryingSince) }),
    });
    if (isLocal) throw failure;
    const failing: Failing = { retryingSince, failedAt: now, position };
    if (isPassing(error)) {
      context.heartbeat(since === undefined ? failing : { ...failing, failingSince: since });
      throw failure;
    }
    since ??= now;
    context.heartbeat({ ...failing, failingSince: since });
    if (now - since < deps.config.RUN_BLOCK_AFTER_MS) throw failure;
    deps.log.error(
      { workflowId, reason: errorKind(error), failingSince: new Date(since) },
      'an activity kept failing and is given up',
    );
    return giveUp(error).catch((last: unknown) => {
      if (isTemporalFailure(last)) throw last;
      deps.log.warn({ err: last, workflowId, activityType }, 'giving up failed and will be tried again');
      throw failure;
    });
  }
}

/**
 * Returns the delay (ms) before the next attempt. It is as long as the failures have already lasted (`lastedMs`),
 * within the limits of {@link RETRY}.
 */
function retryDelay(lastedMs: number): number {
  return Math.min(Math.max(lastedMs, RETRY.shortest), RETRY.longest);
}

function failingOf(details: unknown): Failing | undefined {
  return typeof details === 'object' && details !== null && 'retryingSince' in details
    ? (details as Failing)
    : undefined;
}

function isTemporalFailure(error: unknown): boolean {
  return error instanceof ApplicationFailure || error instanceof CancelledFailure;
}
