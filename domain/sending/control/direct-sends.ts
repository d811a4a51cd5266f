import type { Columns } from '../../../db/rows.ts';
import { signal } from '../../../temporal/dispatch.ts';
import { directSendWorkflow, type DirectSendSignals } from '../../../workflows/direct-send/contract.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import type { Message } from '../../../messages/index.ts';
import { json } from '../../../db/connection.ts';
import { codedReason } from '../../platform/coded-reason.ts';
import { render } from '../../../messages/render.ts';

/** State of a direct send, which is an email written by a person or an agent. */
type DirectSendState = Columns<'direct_sends', 'state'>['state'];

/** Outcome of a direct send. */
interface DirectSettlement {
  state: Exclude<DirectSendState, 'draft' | 'awaiting_approval' | 'queued'>;
  /** Machine-readable code of the failure. */
  code?: string;
  /** Reason of the failure, for people. */
  reason?: Message;
  /** Addresses that the server refused while it accepted the email for other recipients. */
  refused?: readonly string[];
}

type Settled = Columns<
  'direct_sends',
  'id' | 'mailbox_id' | 'message_id' | 'thread_id' | 'contact_id' | 'to_emails' | 'subject'
>;

/**
 * Stores the outcome of a direct send and emits its event, if its state is one of `from`. The row stays locked until
 * the commit.
 * @returns false when no direct send with this id is in one of these states, or the id is that of a campaign email
 */
export async function settleDirectSend(
  tx: Tx,
  id: string,
  settlement: DirectSettlement,
  from: readonly DirectSendState[] = ['queued'],
): Promise<boolean> {
  const { state, code = null, reason, refused = [] } = settlement;
  const [row] = await tx.org.sql<Settled>(
    `update direct_sends set state = :state, error_code = :code, error_detail = cast(:reason as jsonb), finished_at = :now,
       left_out = left_out || cast(:refused as text[]), waiting_for = null, waiting_until = null, blocked_reason = null, updated_at = :now
     where organization_id = :org and id = :id and state = any(:from)
     returning id, mailbox_id, message_id, thread_id, contact_id, to_emails, subject`,
    { id, state, code, reason: reason ? json(reason) : null, refused: [...refused], from: [...from], now: tx.now },
  );
  if (!row) return false;
  const facts = {
    email_id: row.id,
    email_account_id: row.mailbox_id,
    message_id: row.message_id,
    thread_id: row.thread_id,
    contact_id: row.contact_id,
    to: row.to_emails,
    subject: row.subject,
  };
  if (state === 'sent') tx.emit('inbox.email_sent', { ...facts, sent_at: tx.now.toISOString() });
  else if (state !== 'cancelled')
    tx.emit('inbox.email_failed', {
      ...facts,
      state,
      reason: reason ? render(reason) : '',
      ...codedReason(reason ?? null),
    });
  return true;
}

/** Locks a direct send; every writer locks it before its email. Returns undefined if no direct send has the id. */
export async function lockDirectSend(
  tx: Tx,
  id: string,
): Promise<
  Columns<'direct_sends', 'id' | 'state' | 'mailbox_id' | 'approval_id' | 'attempts' | 'files_deleted_at'> | undefined
> {
  const [row] = await tx.org.sql<
    Columns<'direct_sends', 'id' | 'state' | 'mailbox_id' | 'approval_id' | 'attempts' | 'files_deleted_at'>
  >(
    `select id, state, mailbox_id, approval_id, attempts, files_deleted_at from direct_sends where organization_id = :org and id = :id for update`,
    { id },
  );
  return row;
}

/** Queues a failed or uncertain email again, at a person's request. */
export async function requeueDirectSend(tx: Tx, id: string): Promise<void> {
  await tx.org.sql(
    `update direct_sends set state = 'queued', attempts = 0, finished_at = null, error_code = null, error_detail = null, scheduled_at = :now, updated_at = :now
     where organization_id = :org and id = :id`,
    { id, now: tx.now },
  );
  signalDirectSend(tx, id, 'retry', { cause: 'operator' });
}

/** Signals the workflow of a direct send after the commit. Starts the workflow if it is not running. */
export function signalDirectSend<Name extends keyof DirectSendSignals>(
  tx: Tx,
  id: string,
  name: Name,
  payload: DirectSendSignals[Name],
): void {
  const args = { organizationId: tx.org.organizationId, directSendId: id };
  tx.intend(signal(directSendWorkflow, args, name, payload));
}
