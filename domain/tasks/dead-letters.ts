import type { Columns } from '../../db/rows.ts';
import { AppError, notFound } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { retryFailedEmail, sendUncertainAgain } from '../engine/sending/replay.ts';
import type { Ctx } from '../kernel/context.ts';
import { reader, transact, type Tx } from '../kernel/transact.ts';
import { FAILED_DIRECT_EMAIL, FAILED_EMAIL, replayDeadLetter, UNCERTAIN_EMAIL } from '../records/dead-letters.ts';
import { retryTask } from '../system/blocked-runs.ts';

/** Work that gave up, or whose end is unknown, as lists and answers show it. */
export type DeadLetter = Columns<
  'dead_letters',
  | 'id'
  | 'task_id'
  | 'task_type'
  | 'payload'
  | 'last_error'
  | 'attempts'
  | 'max_attempts'
  | 'status'
  | 'next_retry_at'
  | 'replayed_at'
  | 'created_at'
  | 'updated_at'
>;

/** Dead letters of the organization, newest first; with `status`, those alone (GET /tasks/dlq). */
export async function listDeadLetters(
  ctx: Ctx,
  { status, limit }: { status?: DeadLetter['status'] | undefined; limit: number },
): Promise<DeadLetter[]> {
  return reader(ctx).sql<DeadLetter>(
    `select id, task_id, task_type, payload, last_error, attempts, max_attempts, status, next_retry_at, replayed_at, created_at, updated_at
     from dead_letters where organization_id = :org and (cast(:status as text) is null or status = :status)
     order by id desc limit :limit`,
    { status: status ?? null, limit },
  );
}

/**
 * Has the task of a dead letter start again, once: of two who ask at once, one gets a conflict and changes nothing. A run that
 * is gone or has ended needs nothing, and its letter is settled with it.
 * @throws AppError not_found, conflict when it was replayed before or the task cannot be repeated any more
 */
export async function replayTask(ctx: Ctx, id: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const letter = isUuid(id)
      ? await tx.org.table('dead_letters').where({ id }).first('id', 'task_id', 'task_type', 'status')
      : undefined;
    if (!letter) throw notFound('Dead letter');
    if (letter.status === 'pending') await restartTask(tx, letter.task_type, letter.task_id);
    // The rows of the task are locked before the letter, as whoever writes one does; so the letter decides last.
    if (letter.status !== 'pending' || !(await replayDeadLetter(tx, letter.task_type, letter.task_id)))
      throw new AppError('conflict', 'The task has been replayed already', {
        fix: 'GET /v1/tasks/dlq?status=pending lists those that have not.',
      });
    tx.audit({
      action: 'dead_letter.replayed',
      entityType: 'dead_letter',
      entityId: letter.id,
      metadata: { task_type: letter.task_type, task_id: letter.task_id },
    });
  });
}

async function restartTask(tx: Tx, taskType: string, taskId: string): Promise<void> {
  if (taskType === UNCERTAIN_EMAIL) return sendUncertainAgain(tx, taskId);
  if (taskType === FAILED_EMAIL || taskType === FAILED_DIRECT_EMAIL) return retryFailedEmail(tx, taskId);
  await retryTask(tx, taskType, taskId, 'operator');
}
