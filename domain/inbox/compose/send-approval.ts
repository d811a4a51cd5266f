import type { Columns, Row } from '../../../db/rows.ts';
import { signalOpen } from '../../../temporal/dispatch.ts';
import { directSendWorkflow } from '../../../workflows/direct-send/contract.ts';
import type { ApprovalSubject, NotCarriedOut, Tx } from '../../platform/kernel/tx.ts';
import { settleDirectSend, signalDirectSend } from '../../sending/control/direct-sends.ts';
import { approvalContent } from './content.ts';
import { message } from '../../../messages/index.ts';
import { words } from '../../platform/words.ts';

/** Reasons why an email that waited for a person is not sent. */
const NOT_SENT = {
  changed: message('direct.changed'),
  mailbox_removed: message('direct.mailbox_removed'),
};

/** Approval of sending an email. Once approved, the email is queued if it is still what the person saw. */
export const directSendApproval: ApprovalSubject<Row<'direct_sends'>> = {
  type: 'direct_send',
  lock: lockEmail,
  async content(tx, email) {
    const [sender] = await tx.org.sql<Columns<'mailboxes', 'id' | 'email' | 'name' | 'send_as_email'>>(
      'select id, email, name, send_as_email from mailboxes where organization_id = :org and id = :id',
      { id: email.mailbox_id },
    );
    return sender ? approvalContent(email, sender) : null;
  },
  async execute(tx, { id }, approval) {
    await tx.org.table('direct_sends').where({ id }).update({ state: 'queued', updated_at: tx.now });
    signalDirectSend(tx, id, 'decided', { approvalId: approval.id, status: 'approved' });
  },
  async refused(tx, email, approval, why) {
    await settleRefused(tx, email, why, approval.reason);
    const args = { organizationId: tx.org.organizationId, directSendId: email.id };
    const status = why === 'denied' ? 'denied' : 'expired';
    tx.intend(signalOpen(directSendWorkflow, args, 'decided', { approvalId: approval.id, status }));
  },
};

/** Locks an email and returns it. Undefined if it was deleted. */
export async function lockEmail(tx: Tx, id: string): Promise<Row<'direct_sends'> | undefined> {
  const [email] = await tx.org.sql<Row<'direct_sends'>>(
    'select * from direct_sends where organization_id = :org and id = :id for update',
    { id },
  );
  return email;
}

/** Settles an email that was not approved. `reason` is the reason of its approval. */
export async function settleRefused(
  tx: Tx,
  { id, mailbox_id: mailboxId }: Row<'direct_sends'>,
  why: NotCarriedOut,
  reason: string | null,
): Promise<void> {
  const code = why === 'changed' && mailboxId === null ? 'mailbox_removed' : why;
  const state = why === 'denied' ? 'denied' : 'expired';
  const detail = code === 'changed' || code === 'mailbox_removed' ? NOT_SENT[code] : words(reason ?? '');
  await settleDirectSend(tx, id, { state, code, reason: detail }, ['awaiting_approval']);
}
