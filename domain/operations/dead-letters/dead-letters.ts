import type { CampaignRow } from '../../../db/models/campaign.ts';
import type { Columns } from '../../../db/rows.ts';
import { AppError, badRequest, notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { findCampaign } from '../../sending/campaign/find.ts';
import { assertLeadAllowed } from '../../sending/campaign/sender-pool.ts';
import { confirmSent } from '../../sending/outcomes/confirm-sent.ts';
import { assertMailboxAllowed } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { assertMayReopen } from '../../approvals/may-change-leads.ts';
import { FAILED_EMAIL, replayDeadLetter, UNCERTAIN_EMAIL } from '../../platform/dead-letters.ts';
import { deadLetterKinds, retryTask } from '../system/blocked-runs.ts';
import { message } from '../../../messages/index.ts';

/** A dead letter in the form of API responses. It is about a task that has failed or has an unknown result. */
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

/** SQL that selects the mailbox of each task, as (task id, mailbox_id). */
const MAILBOX_OF_TASK = `
  select id, mailbox_id from sends where organization_id = :org
  union all select id, mailbox_id from direct_sends where organization_id = :org
  union all select id, mailbox_id from test_runs where organization_id = :org
  union all select id, id from mailboxes where organization_id = :org`;

/**
 * Lists dead letters of the organization, newest first, optionally only those with `status` (GET /tasks/dlq). For a key
 * restricted to mailboxes, excludes dead letters about other mailboxes or of areas that the key may not read.
 */
export async function listDeadLetters(
  ctx: Ctx,
  { status, limit }: { status?: DeadLetter['status'] | undefined; limit: number },
): Promise<DeadLetter[]> {
  const hidden = deadLetterKinds(ctx.families)
    .filter(({ restricted }) => restricted === 'hidden')
    .map(({ taskType }) => taskType);
  return reader(ctx).sql<DeadLetter>(
    `select id, task_id, task_type, payload, last_error, attempts, max_attempts, status, next_retry_at, replayed_at, created_at, updated_at
     from dead_letters l where organization_id = :org and (cast(:status as text) is null or status = :status)
       and (cast(:mailboxes as uuid[]) is null or (task_type <> all(cast(:unread as text[])) and not exists (
         select 1 from (${MAILBOX_OF_TASK}) t where t.id = l.task_id and t.mailbox_id <> all(:mailboxes))))
     order by id desc limit :limit`,
    { status: status ?? null, limit, mailboxes: ctx.actor.allowedMailboxes, unread: hidden },
  );
}

/**
 * Restarts the task of a dead letter once: the second of two concurrent calls gets a conflict and changes nothing. If
 * the task's workflow is deleted or has ended, the dead letter is only marked as replayed. A key or application needs
 * the right to use all mailboxes of the task. Its policy must allow restarting a completed campaign.
 * @param as `sent` marks an uncertain email as sent, because the caller knows that it was sent
 * @throws AppError not_found, forbidden, conflict when it was replayed before or the task cannot be repeated any more,
 * bad_request for `sent` if the task is not an uncertain email
 */
export async function replayTask(ctx: Ctx, id: string, as: 'again' | 'sent' = 'again'): Promise<void> {
  await transact(ctx, async (tx) => {
    const letter = isUuid(id)
      ? await tx.org.table('dead_letters').where({ id }).first('id', 'task_id', 'task_type', 'status')
      : undefined;
    if (!letter) throw notFound('dead_letter');
    await assertMayReplay(tx, letter);
    if (as === 'sent' && letter.task_type !== UNCERTAIN_EMAIL)
      throw badRequest(message('task.not_uncertain'), [
        { path: 'body.as', message: message('field.only_uncertain_email') },
      ]);
    // Locks the rows of the task before the dead letter, as every writer does. Then checks the dead letter again under
    // its lock, so that only the first of two replays takes effect.
    const done = letter.status === 'pending' && (await (as === 'sent' ? countAsSent : restart)(tx, letter));
    if (!done)
      throw new AppError('conflict', message('task.replayed'), {
        fix: message('task.replayed.fix'),
      });
    tx.audit({
      action: 'dead_letter.replayed',
      entityType: 'dead_letter',
      entityId: letter.id,
      metadata: { task_type: letter.task_type, task_id: letter.task_id, ...(as === 'sent' ? { as } : {}) },
    });
  });
}

/** The fields of a dead letter that identify its task. */
type Task = Pick<DeadLetter, 'task_id' | 'task_type'>;

/** @returns true if the email was still uncertain; its dead letter is then deleted */
function countAsSent(tx: Tx, { task_id: sendId }: Task): Promise<boolean> {
  return confirmSent(tx, sendId, message('sent.person_says'));
}

/**
 * Refuses a key that is restricted to mailboxes if the task concerns other mailboxes or sends from them.
 * @throws AppError forbidden
 */
async function assertMayReplay(tx: Tx, { task_type: type, task_id: task }: Task): Promise<void> {
  if (!tx.actor.allowedMailboxes) return;
  if (deadLetterKinds(tx.families).find(({ taskType }) => taskType === type)?.restricted)
    throw new AppError('forbidden', message('access.every_mailbox'), { fix: message('access.every_mailbox.fix') });
  const [own] = await tx.org.sql<Columns<'sends', 'mailbox_id'>>(
    `select t.mailbox_id from (${MAILBOX_OF_TASK}) t where t.id = :task and t.mailbox_id is not null`,
    { task },
  );
  if (own) assertMailboxAllowed(tx.actor, own.mailbox_id!);
  const [sending] = await tx.org.sql<Columns<'enrollments', 'campaign_id' | 'mailbox_id'>>(
    `select campaign_id, mailbox_id from enrollments where organization_id = :org and id = :task
     union all select id, null from campaigns where organization_id = :org and id = :task
     union all select campaign_id, null from runs where organization_id = :org and id = :task
     union all select c.id, null from contact_imports i join campaigns c on c.id = cast(i.options ->> 'campaign_id' as uuid)
       where i.organization_id = :org and i.id = :task`,
    { task },
  );
  if (sending) await assertLeadAllowed(tx, await findCampaign(tx.org, sending.campaign_id), sending);
}

/** @returns true if the dead letter was still pending */
async function restart(tx: Tx, { task_type: type, task_id: taskId }: Task): Promise<boolean> {
  await assertMayTryAgain(tx, { task_type: type, task_id: taskId });
  await retryTask(tx, type, taskId, 'operator');
  return replayDeadLetter(tx, type, taskId);
}

/**
 * Checks the right to restart a completed campaign, because retrying one of its emails restarts it.
 * @throws AppError forbidden as {@link assertMayReopen}
 */
async function assertMayTryAgain(tx: Tx, { task_type: type, task_id: sendId }: Task): Promise<void> {
  if (type !== UNCERTAIN_EMAIL && type !== FAILED_EMAIL) return;
  const [campaign] = await tx.org.sql<CampaignRow>(
    `select c.* from sends s join campaigns c on c.id = s.campaign_id
     where s.organization_id = :org and s.id = :send and c.status = 'completed' for no key update of c`,
    { send: sendId },
  );
  if (campaign) await assertMayReopen(tx, campaign);
}
