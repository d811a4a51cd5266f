import { across } from '../../../db/across.ts';
import { isDatabaseUnavailable } from '../../../db/errors.ts';
import type { Columns } from '../../../db/rows.ts';
import { errorKind } from '../../../lib/error-report.ts';
import { systemCtx, type Ctx, type Deps } from '../../platform/kernel/context.ts';
import { forEachIsolated } from '../../platform/kernel/for-each-isolated.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { addDeadLetter, replayDeadLetter } from '../../platform/dead-letters.ts';
import type { DeadLetterKind, DurableFamily, RetryCause } from '../../platform/kernel/tx.ts';
import { message, type Message } from '../../../messages/index.ts';

const FIRST_RETRY_MS = 15 * 60_000;
const LONGEST_RETRY_MS = 86_400_000;
/**
 * Maximum number of successive automatic retries, which extend over about three days. After them, a workflow is retried
 * only when a person requests it.
 */
const MAX_RETRIES = 8;
const PAGE = 500;

/**
 * Returns true if a failure was caused by an unreachable PostgreSQL and not by the work itself. The workflow then tries
 * again without being blocked.
 */
export function isPassing(error: unknown): boolean {
  return isDatabaseUnavailable(error);
}

/**
 * Marks a repeatedly failing workflow as blocked, with the reason, and records a dead letter. The sweep retries it
 * after 15 minutes. This delay doubles up to a day, until the workflow was blocked eight times in a row. The reason
 * contains only kinds of errors and no data.
 * @param reason reason that is shown to people. Default: the kind of the error
 * @returns the reason
 */
export async function blockRun(
  ctx: Ctx,
  workflowId: string,
  error: unknown,
  reason = message('run.kept_failing', { kind: errorKind(error) }),
): Promise<Message> {
  const blocked = ctx.families.find(({ contract }) => contract.partsOf(workflowId))?.blocked;
  if (!blocked) return reason;
  await transact(ctx, async (tx) => {
    const taskId = await blocked.block(tx, workflowId, reason);
    if (!taskId) return;
    const [past] = await tx.org.sql<{ times: number }>(
      `select coalesce(max(attempts), 0)::int as times from dead_letters
       where organization_id = :org and task_type = :type and task_id = :task and updated_at > :since`,
      { type: blocked.taskType, task: taskId, since: new Date(tx.now.getTime() - 2 * LONGEST_RETRY_MS) },
    );
    const times = past!.times + 1;
    const waitMs = Math.min(FIRST_RETRY_MS * 2 ** (times - 1), LONGEST_RETRY_MS);
    await addDeadLetter(tx, {
      taskId,
      taskType: blocked.taskType,
      payload: { workflow_id: workflowId },
      error: reason,
      attempts: times,
      maxAttempts: MAX_RETRIES,
      nextRetryAt: times < MAX_RETRIES ? new Date(tx.now.getTime() + waitMs) : null,
    });
  });
  return reason;
}

/**
 * Retries the blocked workflows that are due. A failure does not stop the other retries.
 * @returns the number of retried workflows
 * @throws AggregateError after all retries, if some workflows could not be retried
 */
export async function retryDueRuns(deps: Deps): Promise<number> {
  const due = await across(deps.db, 'maintenance').sql<DueLetter>(
    `select organization_id, task_type, task_id from dead_letters
     where status = 'pending' and next_retry_at <= :now and task_type = any(:types) order by next_retry_at limit :page`,
    { now: deps.clock.now(), types: deadLetterKinds(deps.families).map(({ taskType }) => taskType), page: PAGE },
  );
  await forEachIsolated(deps, due, (letter) => retry(deps, letter, 'sweep'));
  return due.length;
}

/**
 * Retries one blocked workflow immediately.
 * @param workflowId workflow id, as in the dead letter and the Temporal UI
 * @returns false when the workflow is not blocked
 */
export async function retryRun(deps: Deps, workflowId: string): Promise<boolean> {
  const [letter] = await across(deps.db, 'operator').sql<DueLetter>(
    `select organization_id, task_type, task_id from dead_letters
     where status = 'pending' and payload ->> 'workflow_id' = :workflowId limit 1`,
    { workflowId },
  );
  if (letter) await retry(deps, letter, 'operator');
  return letter !== undefined;
}

type DueLetter = Columns<'dead_letters', 'organization_id' | 'task_type' | 'task_id'>;

/** Returns all kinds of tasks that can become dead letters. */
export function deadLetterKinds(families: readonly DurableFamily[]): readonly DeadLetterKind[] {
  return families.flatMap(({ blocked, deadLetters }) => [...(blocked ? [blocked] : []), ...deadLetters]);
}

/**
 * Restarts the task of a dead letter within the caller's transaction. The caller must mark the dead letter as replayed.
 */
export async function retryTask(tx: Tx, taskType: string, taskId: string, cause: RetryCause): Promise<void> {
  await deadLetterKinds(tx.families)
    .find((kind) => kind.taskType === taskType)
    ?.retry(tx, taskId, cause);
}

async function retry(deps: Deps, letter: DueLetter, cause: RetryCause): Promise<void> {
  await transact(systemCtx(deps, letter.organization_id, 'retry'), async (tx) => {
    await retryTask(tx, letter.task_type, letter.task_id, cause);
    await replayDeadLetter(tx, letter.task_type, letter.task_id);
  });
}
