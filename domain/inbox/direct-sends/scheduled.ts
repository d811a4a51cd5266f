import type { Columns } from '../../../db/rows.ts';
import { AppError, notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { withdrawApproval } from '../../approvals/hold.ts';
import { releaseReservedSends } from '../../sending/control/release.ts';
import { assertMailboxAllowed } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { lockDirectSend, settleDirectSend, signalDirectSend } from '../../sending/control/direct-sends.ts';
import { message, type Message } from '../../../messages/index.ts';

/** An email that has not been sent yet. */
export interface ScheduledSend extends Columns<
  'direct_sends',
  | 'id'
  | 'kind'
  | 'state'
  | 'to_emails'
  | 'subject'
  | 'body_plain'
  | 'thread_id'
  | 'approval_id'
  | 'waiting_for'
  | 'blocked_reason'
  | 'created_at'
> {
  /** Expected time of sending, if it is known. */
  at: Date;
  mailbox_id: string;
  email: string;
  name: string;
}

/** Maximum number of emails in the list. */
const MAX_LISTED = 200;
const OPEN = ['awaiting_approval', 'queued'] as const;

/**
 * Lists emails of people and agents that have not been sent, soonest first, at most 200. An API key that is restricted
 * to mailboxes sees only their emails.
 */
export async function listScheduled(ctx: Ctx, threadId?: string): Promise<ScheduledSend[]> {
  const mailboxes = ctx.actor.allowedMailboxes;
  return reader(ctx).sql<ScheduledSend>(
    `select d.id, d.kind, d.state, d.to_emails, d.subject, left(d.body_plain, 400) as body_plain, d.thread_id, d.approval_id, d.waiting_for, d.blocked_reason,
       d.created_at, greatest(d.scheduled_at, s.slot_at) as at, m.id as mailbox_id, m.email, m.name
     from direct_sends d join mailboxes m on m.id = d.mailbox_id left join sends s on s.id = d.id
     where d.organization_id = :org and d.state in ('awaiting_approval', 'queued')
       and (cast(:thread as text) is null or d.thread_id = :thread) ${mailboxes ? 'and d.mailbox_id = any(cast(:mailboxes as uuid[]))' : ''}
     order by d.scheduled_at, d.id limit ${MAX_LISTED}`,
    { thread: threadId ?? null, ...(mailboxes ? { mailboxes } : {}) },
  );
}

/**
 * Cancels an email that has not been sent, and ends the approval for which it waits. The state is checked and changed
 * in one statement, so either this call or a worker that sends the email succeeds.
 * @throws AppError not_found, conflict when it was sent or a worker is sending it
 */
export async function cancelScheduled(ctx: Ctx, id: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const email = isUuid(id) ? await lockDirectSend(tx, id) : undefined;
    if (!email) throw notFound('scheduled_email');
    if (email.mailbox_id) assertMailboxAllowed(tx.actor, email.mailbox_id);
    if (!OPEN.some((state) => state === email.state))
      throw new AppError('conflict', message('scheduled.too_late', { state: email.state }));
    const [mail] = await tx.org.sql<Columns<'sends', 'state'>>(
      'select state from sends where organization_id = :org and id = :id for update',
      { id },
    );
    if (mail?.state === 'sending') throw new AppError('conflict', message('scheduled.being_sent'));
    await releaseReservedSends(tx, { sendId: id });
    await settleDirectSend(tx, id, { state: 'cancelled' }, OPEN);
    await withdrawApproval(tx, { type: 'direct_send', id }, message('approval.email_cancelled'));
    signalDirectSend(tx, id, 'changed', { cause: 'cancelled' });
    tx.audit({ action: 'direct_send.cancelled', entityType: 'direct_send', entityId: id });
  });
}

/**
 * Cancels emails to contacts that have not been sent, including drafts, before the contacts are deleted. An email that
 * a worker is just sending is still sent. Lock order: call this function before rows of the contacts are locked, except
 * their leads.
 */
export async function cancelUnsent(tx: Tx, contactIds: readonly string[]): Promise<void> {
  const unsent = [...OPEN, 'draft'] as const;
  const emails = await tx.org.sql<{ id: string }>(
    `select id from direct_sends where organization_id = :org and contact_id = any(:contacts::uuid[]) and state = any(:unsent) order by id for update`,
    { contacts: [...contactIds], unsent: [...unsent] },
  );
  await cancelLocked(tx, emails, unsent, message('approval.contact_deleted'));
}

/**
 * Cancels all emails of the workspace that have not been sent, except drafts. An email that a worker is just sending is
 * still sent.
 * @param why reason to store in the approvals for which the emails wait
 */
export async function cancelAllUnsent(tx: Tx, why: Message): Promise<void> {
  const emails = await tx.org.sql<{ id: string }>(
    `select id from direct_sends where organization_id = :org and state = any(:unsent) order by id for update`,
    { unsent: [...OPEN] },
  );
  await cancelLocked(tx, emails, OPEN, why);
}

async function cancelLocked(
  tx: Tx,
  emails: readonly { id: string }[],
  unsent: Parameters<typeof settleDirectSend>[3],
  why: Message,
): Promise<void> {
  for (const { id } of emails) {
    const [mail] = await tx.org.sql<Columns<'sends', 'state'>>(
      'select state from sends where organization_id = :org and id = :id for update',
      { id },
    );
    if (mail?.state === 'sending') continue;
    await releaseReservedSends(tx, { sendId: id });
    await settleDirectSend(tx, id, { state: 'cancelled' }, unsent);
    await withdrawApproval(tx, { type: 'direct_send', id }, why);
    signalDirectSend(tx, id, 'changed', { cause: 'cancelled' });
  }
}
