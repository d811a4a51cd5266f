import type { Columns, Row } from '../../../db/rows.ts';
import { signalOpen } from '../../../temporal/dispatch.ts';
import { directSendWorkflow } from '../../../workflows/direct-send/contract.ts';
import { holdAgain } from '../../approvals/hold.ts';
import { isRequesterValid } from '../../approvals/standing.ts';
import { endReason, findApproval } from '../../approvals/view.ts';
import type { ApprovalSubject, NotExecuted, Tx } from '../../platform/kernel/tx.ts';
import type { SenderColumns } from '../../sending/approved.ts';
import { settleDirectSend, signalDirectSend } from '../../sending/control/direct-sends.ts';
import { releaseReservedSends } from '../../sending/control/release.ts';
import { approvalContent, type WrittenEmail } from './content.ts';
import { findSender } from './sender.ts';
import { message, type Message } from '../../../messages/index.ts';
import { externalText } from '../../platform/external-text.ts';

/** Reasons why an email that waited for approval is not sent. */
const NOT_SENT = {
  changed: message('direct.changed'),
  mailbox_removed: message('direct.mailbox_removed'),
  revoked: message('direct.credential_revoked'),
};

/** A locked email. `sender` is set if the caller has already read it. */
interface HeldEmail {
  email: WrittenEmail & Columns<'direct_sends', 'id' | 'mailbox_id'>;
  sender?: SenderColumns;
}

/** Approval of an email. After it, the email is queued if it has not changed since the person saw it. */
export const directSendApproval: ApprovalSubject<HeldEmail> = {
  type: 'direct_send',
  async lock(tx, approval) {
    const email = await lockEmail(tx, approval.subject_id);
    return email && { email };
  },
  async content(tx, { email, sender }) {
    const from = sender ?? (await findSender(tx.org, email.mailbox_id));
    return from ? approvalContent(email, from) : null;
  },
  async execute(tx, { email: { id } }, approval) {
    await tx.org.table('direct_sends').where({ id }).update({ state: 'queued', updated_at: tx.now });
    signalDirectSend(tx, id, 'decided', { approvalId: approval.id, status: 'approved' });
  },
  async stop(tx, { subjectId, approvalId, fields }, config) {
    const email = await lockEmail(tx, subjectId);
    const sender = email && (await findSender(tx.org, email.mailbox_id));
    if (email?.state !== 'queued' || !sender || email.approval_id !== approvalId || !approvalId) return;
    await releaseReservedSends(tx, { sendId: email.id });
    const approval = await findApproval(tx.org, approvalId);
    if (!(await isRequesterValid(tx, approval))) return settleRefused(tx, email, 'revoked', null);
    const locked = { email, sender };
    const again = await holdAgain(tx, config, approval, { subject: directSendApproval, subjectId, locked, fields });
    await tx.org.table('direct_sends').where({ id: email.id }).update({
      state: 'awaiting_approval',
      approval_id: again.id,
      waiting_for: null,
      waiting_until: null,
      updated_at: tx.now,
    });
  },
  async refused(tx, { email }, approval, why) {
    await settleRefused(tx, email, why, endReason(approval, tx.now));
    const args = { organizationId: tx.org.organizationId, directSendId: email.id };
    const status = why === 'denied' || why === 'revoked' ? 'denied' : 'expired';
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

/** Cancels an email that was not approved. `reason` is the reason of its approval. */
export async function settleRefused(
  tx: Tx,
  { id, mailbox_id: mailboxId }: Columns<'direct_sends', 'id' | 'mailbox_id'>,
  why: NotExecuted,
  reason: Message | null,
): Promise<void> {
  const code = why === 'changed' && mailboxId === null ? 'mailbox_removed' : why;
  const state = why === 'denied' || why === 'revoked' ? 'denied' : 'expired';
  const detail = code in NOT_SENT ? NOT_SENT[code as keyof typeof NOT_SENT] : (reason ?? externalText(''));
  await settleDirectSend(tx, id, { state, code, reason: detail }, ['awaiting_approval', 'queued']);
}
