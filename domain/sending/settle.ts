import type { Columns } from '../../db/rows.ts';
import { isToRepeat } from '../../db/errors.ts';
import { logCampaign } from './campaign/log.ts';
import { finishEnrollment } from './control/finish.ts';
import { lockLeadsOfSend } from './control/lock.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { transact, writeSingleStatement, type Tx } from '../platform/kernel/transact.ts';
import { effectiveSettings } from './campaign/outreach-settings.ts';
import { freeSlot, moveSlot, releaseReservedSends } from './control/release.ts';
import { addDeadLetter, FAILED_DIRECT_EMAIL, FAILED_EMAIL, UNCERTAIN_EMAIL } from '../platform/dead-letters.ts';
import { lockDirectSend, settleDirectSend } from './control/direct-sends.ts';
import type { RefusalClass } from '../mail/inbound/refusal.ts';
import { recordCopyBounce } from './outcomes/effects.ts';
import { isTestEmailWanted, lockTestRunOf, settleTestEmail } from './control/test-runs.ts';
import { message, type Message } from '../../messages/index.ts';
import { externalText } from '../platform/external-text.ts';
import { json } from '../../db/connection.ts';

/** Identifies a claimed email. Only the worker with the token may store its result. */
interface Hold {
  sendId: string;
  token: string;
}

interface SentRow extends Columns<
  'sends',
  | 'id'
  | 'campaign_id'
  | 'enrollment_id'
  | 'step_id'
  | 'step_run_id'
  | 'contact_id'
  | 'mailbox_id'
  | 'recipient'
  | 'attempts'
  | 'again'
  | 'claimed_at'
> {
  message_id: string;
}

/**
 * Row of a send, with the state of its lead (null when campaign or contact were deleted) and of its direct send (null
 * if none).
 */
type HeldRow = SentRow & { lead_state: string | null; direct_state: string | null };

/** First delay (ms) after a temporary refusal. Later delays quadruple, up to an hour. */
const RETRY_BASE_MS = 60_000;
const RETRY_CAP_MS = 3_600_000;

/** Payload of the `email_sent` event, without the values known only after sending. */
export interface SentFacts {
  campaign_id: string | null;
  step_id: string | null;
  contact_id: string | null;
  contact_email: string;
  email_account_id: string | null;
  task_id: string;
  message_id: string;
}

/**
 * Stores the result of a sent email: in the send, its step run, its lead and its sender, and as an event. Uses one
 * statement, so that a crash leaves the email uncertain only if it happens during one round trip to PostgreSQL. Locks
 * the lead before its email, as all writers do.
 * @param enrollmentId the lead found by the claim; nothing is changed if it was deleted since
 * @returns false when the result cannot be stored in this way; call {@link settleDelivered} then
 */
export async function settleSent(
  ctx: Ctx,
  hold: Hold,
  enrollmentId: string,
  facts: SentFacts,
  answer: Answer,
): Promise<boolean> {
  const now = ctx.clock.now();
  const sentAt = answer.at ?? now;
  try {
    return await writeSingleStatement(ctx, now, {
      ctes: `lead as (
         select id from enrollments where organization_id = :org and id = :enrollment for update
       ), settled as (
         update sends s set state = 'sent', sent_at = :sent, smtp_response = :response, assigned_id = nullif(:assigned, s.message_id), again = false, updated_at = :now
         from lead where s.organization_id = :org and s.id = :id and s.enrollment_id = lead.id and s.state = 'sending' and s.claim_token = :token
         returning s.enrollment_id, s.step_run_id, s.campaign_id, s.mailbox_id, s.conversation
       ), ${aftermath('sent')}`,
      bindings: {
        enrollment: enrollmentId,
        id: hold.sendId,
        token: hold.token,
        sent: sentAt,
        response: answer.response?.slice(0, 500) ?? null,
        assigned: answer.assignedId,
        detail: null,
      },
      event: { type: 'campaign.email_sent', data: { ...facts, sent_at: sentAt.toISOString() }, when: 'settled' },
    });
  } catch (error) {
    // A deadlock rolls the statement back. The caller retries in a transaction.
    if (isToRepeat(error)) return false;
    throw error;
  }
}

/** Answer of the server that accepted a message, and the Message-ID that it assigned, if any. */
interface Answer {
  /** Text of the response; null if the answer was lost. */
  response: string | null;
  /** Reason why the answer was lost. */
  reason?: Message;
  assignedId: string | null;
  /**
   * Time of the response, which is stored as the sending time, so that a reply stored earlier does not precede the
   * email. If the response was lost, this is null and the time of the claim is stored.
   */
  at: Date | null;
}

/**
 * SQL of the conversation after the email. Later emails must not reply to an uncertain email, so only its subject is
 * kept, for a later email without an own subject.
 */
const CONVERSATIONS = {
  sent: `coalesce(s.conversation, e.conversation)`,
  uncertain: `case when jsonb_array_length(e.conversation -> 'messageIds') > 0 then e.conversation
             else jsonb_build_object('subject', coalesce(s.conversation ->> 'subject', ''), 'messageIds', '[]'::jsonb) end`,
};

/**
 * Returns CTEs that update step run, lead and sender of an email that was or may have been sent. They read the email's
 * row from the CTE `settled`.
 */
const aftermath = (state: 'sent' | 'uncertain'): string => `run as (
         update step_runs r set state = 'completed', outcome = '${state}', completed_at = :now, detail = :detail
         from settled s where r.id = s.step_run_id and r.state in ('running', 'waiting')
       ), moved as (
         update enrollments e set last_activity_at = :now, mailbox_id = s.mailbox_id,
           conversation = ${CONVERSATIONS[state]}, waiting_for = null,
           -- The run continues at once. The launcher signals a run that does not (launch.ts).
           waiting_until = case when e.state = 'active' then :now::timestamptz end
         from settled s where e.id = s.enrollment_id
       ), sender as (
         update campaign_senders c set last_sent_at = :now from settled s where c.campaign_id = s.campaign_id and c.mailbox_id = s.mailbox_id
       )`;

/**
 * Stores the result of an email that was sent (`sent`) or may have been sent (`uncertain`), in any state of its lead
 * and campaign. Uncertain emails are listed, and resent only at a person's request. The step is completed either way.
 * @param refused recipients of a direct send that the server refused while it accepted the email
 * @returns false when the token is no longer valid
 */
export async function settleDelivered(
  ctx: Ctx,
  hold: Hold,
  state: 'sent' | 'uncertain',
  answer: Answer,
  refused: readonly RefusedCopy[] = [],
): Promise<boolean> {
  const reason = answer.reason ?? message('sent.no_answer');
  return transact(ctx, async (tx) => {
    if (!(await lockEnrollment(tx, hold))) return false;
    const [row] = await tx.org.sql<SentRow & { sent_at: Date }>(
      `with settled as (
         update sends set state = :state, sent_at = case when :state = 'sent' then coalesce(cast(:sent as timestamptz), claimed_at, :now) end, smtp_response = :response, error_detail = coalesce(cast(:reason as jsonb), error_detail), assigned_id = nullif(:assigned, message_id), again = false, updated_at = :now
         where organization_id = :org and id = :id and state = 'sending' and claim_token = :token
         returning *
       ), ${aftermath(state)}
       select * from settled`,
      {
        state,
        now: tx.now,
        sent: answer.at,
        response: answer.response?.slice(0, 500) ?? null,
        reason: state === 'uncertain' ? json(reason) : null,
        assigned: answer.assignedId,
        id: hold.sendId,
        token: hold.token,
        detail: state === 'uncertain' ? json(message('sent.no_answer')) : null,
      },
    );
    if (!row) return false;
    if (await settleDirect(tx, row, state, reason, refused)) return true;
    const detail = state === 'uncertain' ? reason : null;
    if (await settleTestEmail(tx, row.id, { state: 'completed', outcome: state, detail })) return true;
    if (state === 'sent') tx.emit('campaign.email_sent', { ...sentFacts(row), sent_at: row.sent_at.toISOString() });
    else await listUncertain(tx, row, reason);
    return true;
  });
}

/** A recipient of a direct send that the server refused while it accepted the email for others. */
export interface RefusedCopy {
  address: string;
  hard: boolean;
  reason: Message;
  fault: RefusalClass;
}

/** Settles a direct send. Returns false for a campaign email. */
async function settleDirect(
  tx: Tx,
  row: SentRow,
  state: 'sent' | 'uncertain',
  reason: Message,
  refused: readonly RefusedCopy[],
): Promise<boolean> {
  const settlement =
    state === 'sent' ? { state, refused: refused.map(({ address }) => address) } : { state, code: 'uncertain', reason };
  if (!(await settleDirectSend(tx, row.id, settlement))) return false;
  if (state === 'uncertain') await listUncertain(tx, row, reason);
  for (const copy of refused) await recordCopyBounce(tx, { ...copy, source: 'smtp' });
  return true;
}

/** Lists an uncertain email in the campaign's log and as a dead letter. Replaying the dead letter resends the email. */
async function listUncertain(tx: Tx, row: SentRow, reason: Message): Promise<void> {
  const { task_reliability: reliability } = await effectiveSettings(tx.org, row.campaign_id);
  if (reliability.dlq_enabled)
    await addDeadLetter(tx, {
      taskId: row.id,
      taskType: UNCERTAIN_EMAIL,
      payload: idsOf(row),
      error: message('emails.may_have_left', { reason }),
      attempts: row.attempts,
      maxAttempts: 0,
      nextRetryAt: null,
    });
  if (row.campaign_id)
    await logCampaign(tx, row.campaign_id, 'send_uncertain', message('log.email_uncertain'), logged(row));
}

/** Builds the event payload from the email's row. */
export function sentFacts(
  row: Pick<SentRow, 'id' | 'campaign_id' | 'step_id' | 'contact_id' | 'recipient' | 'mailbox_id' | 'message_id'>,
): SentFacts {
  return {
    campaign_id: row.campaign_id,
    step_id: row.step_id,
    contact_id: row.contact_id,
    contact_email: row.recipient,
    email_account_id: row.mailbox_id,
    task_id: row.id,
    message_id: row.message_id,
  };
}

/**
 * Settles a temporary refusal: moves the slot to a later time, for which the workflow waits. After the last attempt the
 * email becomes a dead letter and the lead fails. The attempts are also stored with the step run, so that a slot
 * released by a pause or a closed window does not reset the count. If the lead has finished in the meantime, no slot is
 * reserved. A resent uncertain email becomes uncertain again, because the first attempt may have succeeded.
 */
export async function settleDeferred(ctx: Ctx, hold: Hold, reason: Message): Promise<'deferred' | 'failed' | 'stale'> {
  return transact(ctx, async (tx) => {
    const row = await lockClaimed(tx, hold);
    if (!row) return 'stale';
    if (row.direct_state) await tx.org.table('direct_sends').where({ id: row.id }).update({ attempts: row.attempts });
    const { task_reliability: reliability } = await effectiveSettings(tx.org, row.campaign_id);
    const limit = reliability.enabled ? reliability.max_attempts : 1;
    if (row.attempts >= limit && row.again) {
      await returnToUncertain(tx, row, reason);
      return 'failed';
    }
    if (row.attempts >= limit) {
      await fail(tx, row, 'attempts_exhausted', reason, reliability.dlq_enabled ? limit : null);
      return 'failed';
    }
    const wait = Math.min(RETRY_BASE_MS * 4 ** (row.attempts - 1), RETRY_CAP_MS);
    await unclaim(tx, row, { error_code: 'deferred', error_detail: json(reason) });
    if (row.step_run_id)
      await tx.org.table('step_runs').where({ id: row.step_run_id }).update({ attempts: row.attempts });
    if (await isWanted(tx, row)) await moveSlot(tx, row.id, await freeSlot(tx, row, new Date(tx.now.getTime() + wait)));
    else await releaseReservedSends(tx, { sendId: row.id });
    return 'deferred';
  });
}

/**
 * Settles a failed connection: moves the slot by `waitMs` without counting the attempt, however long the outage lasts.
 * The contact waits for the moved slot.
 */
export async function settleWaiting(
  ctx: Ctx,
  hold: Hold,
  reason: Message,
  waitMs: number = ctx.config.SMTP_UNREACHABLE_RETRY_MS,
): Promise<'deferred' | 'stale'> {
  return transact(ctx, async (tx) => {
    const row = await lockClaimed(tx, hold);
    if (!row) return 'stale';
    await unclaim(tx, row, {
      attempts: Math.max(0, row.attempts - 1),
      error_code: 'unreachable',
      error_detail: json(reason),
    });
    if (await isWanted(tx, row))
      await moveSlot(tx, row.id, await freeSlot(tx, row, new Date(tx.now.getTime() + waitMs)));
    else await releaseReservedSends(tx, { sendId: row.id });
    return 'deferred';
  });
}

/**
 * Returns a claimed email to `reserved` after a refusal that concerns the mailbox, not the recipient. The caller
 * releases the slot. Returns false if the claim is lost.
 */
export async function settleReturned(tx: Tx, hold: Hold): Promise<boolean> {
  const row = await lockClaimed(tx, hold);
  if (row) await unclaim(tx, row);
  return row !== undefined;
}

/**
 * Settles a permanent refusal: the step fails for this contact. `bounce` records the bounce (`outcomes/effects.ts`).
 */
export async function settleBounced(
  ctx: Ctx,
  hold: Hold,
  response: string,
  bounce: (tx: Tx, row: SentRow) => Promise<void>,
): Promise<boolean> {
  return transact(ctx, async (tx) => {
    await lockLeadsOfSend(tx, hold.sendId);
    const row = await lockClaimed(tx, hold);
    if (!row) return false;
    await tx.org
      .table('sends')
      .where({ id: row.id })
      .update({
        state: 'bounced',
        bounced_at: tx.now,
        smtp_response: response.slice(0, 500),
        error_code: 'refused',
        updated_at: tx.now,
      });
    if (row.step_run_id)
      await tx.org
        .table('step_runs')
        .where({ id: row.step_run_id })
        .update({ state: 'failed', outcome: 'bounced', detail: json(externalText(response)), completed_at: tx.now });
    if (row.direct_state)
      await settleDirectSend(tx, row.id, { state: 'bounced', code: 'refused', reason: externalText(response) });
    if (await settleTestEmail(tx, row.id, { state: 'failed', outcome: 'bounced', detail: externalText(response) }))
      return true;
    await bounce(tx, row);
    return true;
  });
}

/**
 * Settles an email that its mailbox's server can never accept. The email and its lead fail. A dead letter lets a person
 * send the email again after a change. A resent uncertain email becomes uncertain again.
 */
export async function settleFailed(ctx: Ctx, hold: Hold, code: string, reason: Message): Promise<'failed' | 'stale'> {
  return transact(ctx, async (tx) => {
    const row = await lockClaimed(tx, hold);
    if (!row) return 'stale';
    const { task_reliability: reliability } = await effectiveSettings(tx.org, row.campaign_id);
    if (row.again) await returnToUncertain(tx, row, reason);
    else await fail(tx, row, code, reason, reliability.dlq_enabled ? row.attempts : null);
    return 'failed';
  });
}

/** Returns true if an unsent email must still be sent. */
async function isWanted(tx: Tx, row: HeldRow): Promise<boolean> {
  if (row.lead_state === 'active' || row.direct_state === 'queued') return true;
  return row.enrollment_id === null && row.direct_state === null && (await isTestEmailWanted(tx.org, row.id));
}

async function lockEnrollment(tx: Tx, hold: Hold): Promise<boolean> {
  const [row] = await tx.org.sql(
    `select e.id from enrollments e where e.organization_id = :org
       and e.id = (select enrollment_id from sends where organization_id = :org and id = :id) for update`,
    { id: hold.sendId },
  );
  if (row) return true;
  await lockTestRunOf(tx, hold.sendId);
  await lockDirectSend(tx, hold.sendId);
  // The email belongs to no campaign, or the campaign was deleted during the sending, so no enrollment exists. The row
  // in `sends` is kept.
  const [alone] = await tx.org.sql(
    `select id from sends where organization_id = :org and id = :id and enrollment_id is null`,
    { id: hold.sendId },
  );
  return alone !== undefined;
}

async function lockClaimed(tx: Tx, hold: Hold): Promise<HeldRow | undefined> {
  if (!(await lockEnrollment(tx, hold))) return undefined;
  const [row] = await tx.org.sql<HeldRow>(
    `select s.*, e.state as lead_state, d.state as direct_state
     from sends s left join enrollments e on e.id = s.enrollment_id left join direct_sends d on d.id = s.id
     where s.organization_id = :org and s.id = :id and s.state = 'sending' and s.claim_token = :token for update of s`,
    { id: hold.sendId, token: hold.token },
  );
  return row;
}

async function unclaim(tx: Tx, row: SentRow, more: Record<string, unknown> = {}): Promise<void> {
  await tx.org
    .table('sends')
    .where({ id: row.id })
    .update({ state: 'reserved', claim_token: null, claimed_at: null, handover: null, updated_at: tx.now, ...more });
}

/** Marks an email as uncertain again after a failed resend. A person may request another attempt. */
async function returnToUncertain(tx: Tx, row: HeldRow, reason: Message): Promise<void> {
  await unclaim(tx, row);
  await releaseReservedSends(tx, { sendId: row.id });
  await tx.org.table('sends').where({ id: row.id }).update({ again: false, claimed_at: row.claimed_at });
  await settleDirectSend(tx, row.id, { state: 'uncertain', code: 'uncertain', reason });
  await listUncertain(tx, row, reason);
}

async function fail(
  tx: Tx,
  row: HeldRow,
  code: string,
  reason: Message,
  deadLetterLimit: number | null,
): Promise<void> {
  await tx.org
    .table('sends')
    .where({ id: row.id })
    .update({ state: 'failed', error_code: code, error_detail: json(reason), updated_at: tx.now });
  if (row.step_run_id)
    await tx.org
      .table('step_runs')
      .where({ id: row.step_run_id })
      .update({ state: 'failed', outcome: 'failed', detail: json(reason), completed_at: tx.now });
  await settleDirectSend(tx, row.id, { state: 'failed', code, reason });
  if (await settleTestEmail(tx, row.id, { state: 'failed', outcome: 'failed', detail: reason })) return;
  if (deadLetterLimit !== null) {
    await addDeadLetter(tx, {
      taskId: row.id,
      taskType: row.direct_state ? FAILED_DIRECT_EMAIL : FAILED_EMAIL,
      payload: idsOf(row),
      error: reason,
      attempts: row.attempts,
      maxAttempts: deadLetterLimit,
      nextRetryAt: null,
    });
  }
  if (row.campaign_id)
    await logCampaign(
      tx,
      row.campaign_id,
      'send_failed',
      message('log.email_failed', { attempts: row.attempts }),
      logged(row),
    );
  if (row.enrollment_id) await finishEnrollment(tx, row.enrollment_id, 'failed', { reason, byRun: true });
}

/** Returns the ids by which a dead letter refers to the email. */
function idsOf(row: SentRow): Record<string, string | null> {
  if (row.campaign_id === null && row.step_id === null) return { direct_send_id: row.id, mailbox_id: row.mailbox_id };
  return { campaign_id: row.campaign_id, enrollment_id: row.enrollment_id, step_id: row.step_id };
}

/** Returns the ids of an email for the activity log. */
function logged(row: SentRow): Record<string, unknown> {
  return { task_id: row.id, contact_id: row.contact_id, step_id: row.step_id };
}
