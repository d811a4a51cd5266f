import type { Columns } from '../../../db/rows.ts';
import { signal } from '../../../temporal/dispatch.ts';
import { directSendWorkflow, type DirectSendSignals } from '../../../workflows/direct-send/contract.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import type { Message } from '../../../messages/index.ts';
import { inWords } from '../../../lib/errors.ts';
import { json } from '../../../db/connection.ts';

/** An email that a person or an agent wrote. */
type DirectSendState = Columns<'direct_sends', 'state'>['state'];

/** What has become of one. */
interface DirectSettlement {
  state: Exclude<DirectSendState, 'draft' | 'awaiting_approval' | 'queued'>;
  /** A machine's word for why it did not leave. */
  code?: string;
  /** The same for people. */
  reason?: Message;
  /** Addresses that the server refused while it took the email for the others. */
  refused?: readonly string[];
}

type Settled = Columns<
  'direct_sends',
  'id' | 'mailbox_id' | 'message_id' | 'thread_id' | 'contact_id' | 'to_emails' | 'subject'
>;

/**
 * Records what has become of a direct send, and emits the event, when it is in one of the states `from`. The row stays locked.
 * @returns false when there is no such direct send in one of these states, as for the email of a campaign
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
    tx.emit('inbox.email_failed', { ...facts, state, reason: reason ? inWords(reason) : '' });
  return true;
}

/** Locks a direct send, before its email, in the order of every writer. Undefined when the id is not one. */
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

/** Queues an email again that has failed or is uncertain, when a person asks for it. */
export async function requeueDirectSend(tx: Tx, id: string): Promise<void> {
  await tx.org.sql(
    `update direct_sends set state = 'queued', attempts = 0, finished_at = null, error_code = null, error_detail = null, scheduled_at = :now, updated_at = :now
     where organization_id = :org and id = :id`,
    { id, now: tx.now },
  );
  signalDirectSend(tx, id, 'retry', { cause: 'operator' });
}

/** Signals the run of a direct send, after the commit; where none is open, one is started. */
export function signalDirectSend<Name extends keyof DirectSendSignals>(
  tx: Tx,
  id: string,
  name: Name,
  payload: DirectSendSignals[Name],
): void {
  const args = { organizationId: tx.org.organizationId, directSendId: id };
  tx.intend(signal(directSendWorkflow, args, name, payload));
}
