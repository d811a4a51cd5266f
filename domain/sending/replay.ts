import type { Bindings } from '../../db/statement.ts';
import { AppError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { logCampaign } from './campaign/log.ts';
import { lockLeadsOfSend } from './control/lock.ts';
import { lockDirectSend, requeueDirectSend } from './control/direct-sends.ts';
import { releaseReservedSends } from './control/release.ts';
import { signalRetry } from './control/signals.ts';
import { restartCampaign } from './control/restart.ts';
import { lockCampaign } from './control/status.ts';
import { message, type Message } from '../../messages/index.ts';

interface Given {
  campaign_id: string;
  enrollment_id: string;
  contact_id: string;
  step_id: string;
  step_run_id: string | null;
  mailbox_id: string | null;
}

/**
 * States of an enrollment that a repeated email may reopen. In these states the contact has neither replied nor opted
 * out.
 */
const REOPENED = ['active', 'completed', 'failed'] as const;

/**
 * Sends an uncertain email again at a person's request, under the same Message-ID. The email is sent before any step
 * that the contact waits for. A finished contact continues, and a completed campaign restarts.
 * @throws AppError conflict when the email is not uncertain, or its contact must not be mailed any more;
 * attachments_expired
 */
export async function sendUncertainAgain(tx: Tx, sendId: string): Promise<void> {
  if (await lockDirectEmail(tx, sendId, 'uncertain')) {
    await tx.org.table('sends').where({ id: sendId }).update({ again: true, updated_at: tx.now });
    return requeueDirectSend(tx, sendId);
  }
  const given = await lockForReplay(tx, sendId, 'uncertain');
  await tx.org.table('sends').where({ id: sendId }).update({ again: true, updated_at: tx.now });
  await resumeEnrollment(tx, given, message('log.uncertain_sent_again'));
}

/**
 * Retries an email that failed after its last attempt, with a new slot and a new count of attempts.
 * @throws AppError conflict when the email has not failed, or its contact must not be mailed any more;
 * attachments_expired
 */
export async function retryFailedEmail(tx: Tx, sendId: string): Promise<void> {
  if (await lockDirectEmail(tx, sendId, 'failed')) {
    await tx.org
      .table('sends')
      .where({ id: sendId, state: 'failed' })
      .update({ state: 'reserved', updated_at: tx.now });
    await releaseReservedSends(tx, { sendId });
    return requeueDirectSend(tx, sendId);
  }
  const given = await lockForReplay(tx, sendId, 'failed');
  // The email was not sent, so its row and its counts are deleted as for a released slot.
  await tx.org.table('sends').where({ id: sendId }).update({ state: 'reserved', updated_at: tx.now });
  await releaseReservedSends(tx, { sendId });
  if (given.step_run_id)
    await tx.org
      .table('step_runs')
      .where({ id: given.step_run_id })
      .update({ state: 'running', outcome: null, attempts: 0, detail: null, completed_at: null });
  await resumeEnrollment(tx, given, message('log.failed_tried_again'));
}

/**
 * Locks a direct send and its email. Returns false if no direct send has the id.
 * @throws AppError conflict when it is in another state; attachments_expired when its files are deleted
 */
async function lockDirectEmail(tx: Tx, id: string, state: 'uncertain' | 'failed'): Promise<boolean> {
  const direct = isUuid(id) ? await lockDirectSend(tx, id) : undefined;
  if (!direct) return false;
  const [email] = await tx.org.sql<{ state: string; again: boolean }>(
    'select state, again from sends where organization_id = :org and id = :id for update',
    { id },
  );
  if (direct.state !== state || email?.again || (state === 'uncertain' && email?.state !== state))
    throw new AppError('conflict', message(`emails.not_${state}`), {
      fix: message('emails.settled_meanwhile.fix'),
    });
  if (direct.mailbox_id === null) throw new AppError('conflict', message('emails.mailbox_removed'));
  if (direct.files_deleted_at !== null)
    throw new AppError('attachments_expired', message('emails.files_deleted'), {
      fix: message('emails.files_deleted.fix'),
    });
  return true;
}

/** Locks campaign, enrollments and email in this order, as all writers do, and checks the email's state. */
async function lockForReplay(tx: Tx, sendId: string, state: 'uncertain' | 'failed'): Promise<Given> {
  const read = async (lock: '' | 'for update'): Promise<(Given & { state: string; again: boolean }) | undefined> => {
    const bindings: Bindings = { id: sendId };
    const [row] = await tx.org.sql<Given & { state: string; again: boolean }>(
      `select campaign_id, enrollment_id, contact_id, step_id, step_run_id, mailbox_id, state, again
       from sends where organization_id = :org and id = :id ${lock}` as `${string}:org${string}`,
      bindings,
    );
    return row;
  };
  const seen = isUuid(sendId) ? await read('') : undefined;
  if (!seen?.campaign_id || !seen.enrollment_id) throw new AppError('conflict', message('emails.gone'));
  const campaign = await lockCampaign(tx, seen.campaign_id);
  await lockLeadsOfSend(tx, sendId);
  const row = await read('for update');
  if (row?.state !== state || row.again)
    throw new AppError('conflict', message(`emails.not_${state}`), {
      fix: message('emails.settled_meanwhile.fix'),
    });
  const [lead] = await tx.org.sql<{ state: string }>(
    'select state from enrollments where organization_id = :org and id = :id',
    { id: row.enrollment_id },
  );
  if (!REOPENED.some((open) => open === lead?.state))
    throw new AppError('conflict', message('emails.contact_left', { state: lead?.state ?? '' }));
  if (campaign.status === 'completed') await restart(tx, row, campaign);
  return row;
}

async function restart(tx: Tx, row: Given, campaign: Awaited<ReturnType<typeof lockCampaign>>): Promise<void> {
  await reopen(tx, row);
  const refusal = await restartCampaign(tx, campaign, message('log.restarted_for_email'));
  if (refusal) throw new AppError('conflict', message('campaigns.cannot_restart', { reason: refusal.said }));
}

async function reopen(tx: Tx, row: Given): Promise<void> {
  await tx.org.sql(
    `update enrollments set state = 'active', finished_at = null, failure_reason = null, blocked = false, last_activity_at = :now
     where organization_id = :org and id = :id and state <> 'active'`,
    { id: row.enrollment_id, now: tx.now },
  );
}

async function resumeEnrollment(tx: Tx, given: Given, said: Message): Promise<void> {
  await reopen(tx, given);
  signalRetry(tx, given, { cause: 'operator', stepRunId: null });
  await logCampaign(tx, given.campaign_id, 'step_retried', said, {
    step_id: given.step_id,
    contact_id: given.contact_id,
  });
}
