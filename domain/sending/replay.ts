import type { Bindings } from '../../db/statement.ts';
import { AppError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { launchRefusal } from './campaign/launch-checks.ts';
import { logCampaign } from './campaign/log.ts';
import { lockLeadsOfSend } from './control/lock.ts';
import { lockDirectSend, requeueDirectSend } from './control/direct-sends.ts';
import { releaseReservedSends } from './control/release.ts';
import { signalRetry } from './control/signals.ts';
import { activateCampaign, lockCampaign } from './control/status.ts';

interface Given {
  campaign_id: string;
  enrollment_id: string;
  contact_id: string;
  step_id: string;
  step_run_id: string | null;
  mailbox_id: string | null;
}

/** States of an enrollment that a repeated email may open again: nothing was heard of the person. */
const REOPENED = ['active', 'completed', 'failed'] as const;

/**
 * Sends an uncertain email again, when a person asks for it: under the same Message-ID, at the next slot of its mailbox, before
 * any step that the contact waits for. A finished contact continues, a completed campaign is restarted.
 * @throws AppError conflict when the email is not uncertain, or its contact must not be mailed any more; attachments_expired
 */
export async function sendUncertainAgain(tx: Tx, sendId: string): Promise<void> {
  if (await lockDirectEmail(tx, sendId, 'uncertain')) {
    await tx.org.table('sends').where({ id: sendId }).update({ again: true, updated_at: tx.now });
    return requeueDirectSend(tx, sendId);
  }
  const given = await lockGiven(tx, sendId, 'uncertain');
  await tx.org.table('sends').where({ id: sendId }).update({ again: true, updated_at: tx.now });
  await goOn(tx, given, 'An uncertain email is sent again');
}

/**
 * Tries an email again that was given up after its last attempt: with all its attempts, at another slot.
 * @throws AppError conflict when the email has not failed, or its contact must not be mailed any more; attachments_expired
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
  const given = await lockGiven(tx, sendId, 'failed');
  // Nothing of it has left: the row goes as a slot does, with its counts.
  await tx.org.table('sends').where({ id: sendId }).update({ state: 'reserved', updated_at: tx.now });
  await releaseReservedSends(tx, { sendId });
  if (given.step_run_id)
    await tx.org
      .table('step_runs')
      .where({ id: given.step_run_id })
      .update({ state: 'running', outcome: null, attempts: 0, detail: null, completed_at: null });
  await goOn(tx, given, 'An email that had failed is tried again');
}

/**
 * Locks a direct send and its email; false when the id is not one.
 * @throws AppError conflict when it is in another state; attachments_expired when it would leave without its files
 */
async function lockDirectEmail(tx: Tx, id: string, state: 'uncertain' | 'failed'): Promise<boolean> {
  const direct = isUuid(id) ? await lockDirectSend(tx, id) : undefined;
  if (!direct) return false;
  const [email] = await tx.org.sql<{ state: string; again: boolean }>(
    'select state, again from sends where organization_id = :org and id = :id for update',
    { id },
  );
  if (direct.state !== state || email?.again || (state === 'uncertain' && email?.state !== state))
    throw new AppError('conflict', `The email is not ${state} any more`, {
      fix: 'It has been sent again or settled in the meantime; read the list again.',
    });
  if (direct.mailbox_id === null) throw new AppError('conflict', 'The mailbox of this email has been removed');
  if (direct.files_deleted_at !== null)
    throw new AppError('attachments_expired', 'The files of this email were deleted at the end of their retention', {
      fix: 'Write the email again with its files. ATTACHMENT_RETENTION_DAYS says how long they are kept.',
    });
  return true;
}

/** Locks campaign, leads and email in the order of all writers, and checks that the email is in that state. */
async function lockGiven(tx: Tx, sendId: string, state: 'uncertain' | 'failed'): Promise<Given> {
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
  if (!seen?.campaign_id || !seen.enrollment_id)
    throw new AppError('conflict', 'The email of this task, its campaign or its lead is gone');
  const campaign = await lockCampaign(tx, seen.campaign_id);
  await lockLeadsOfSend(tx, sendId);
  const row = await read('for update');
  if (row?.state !== state || row.again)
    throw new AppError('conflict', `The email is not ${state} any more`, {
      fix: 'It has been sent again or settled in the meantime; read the list again.',
    });
  const [lead] = await tx.org.sql<{ state: string }>(
    'select state from enrollments where organization_id = :org and id = :id',
    { id: row.enrollment_id },
  );
  if (!REOPENED.some((open) => open === lead?.state))
    throw new AppError('conflict', `The contact has left the campaign (${lead?.state}) and is not mailed any more`);
  if (campaign.status === 'completed') await restart(tx, row, campaign);
  return row;
}

async function restart(tx: Tx, row: Given, campaign: Awaited<ReturnType<typeof lockCampaign>>): Promise<void> {
  await reopen(tx, row);
  const refusal = await launchRefusal(tx.org, campaign, { now: tx.now, byPlatform: true });
  if (refusal) throw new AppError('conflict', `The campaign cannot be restarted: ${refusal.message}`);
  await activateCampaign(tx, campaign, { type: 'campaign_restarted', message: 'An email is to be sent again' });
}

async function reopen(tx: Tx, row: Given): Promise<void> {
  await tx.org.sql(
    `update enrollments set state = 'active', finished_at = null, failure_reason = null, blocked = false, last_activity_at = :now
     where organization_id = :org and id = :id and state <> 'active'`,
    { id: row.enrollment_id, now: tx.now },
  );
}

async function goOn(tx: Tx, given: Given, message: string): Promise<void> {
  await reopen(tx, given);
  signalRetry(tx, given, { cause: 'operator', stepRunId: null });
  await logCampaign(tx, given.campaign_id, 'step_retried', message, {
    step_id: given.step_id,
    contact_id: given.contact_id,
  });
}
