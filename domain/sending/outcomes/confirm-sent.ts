import type { Tx } from '../../platform/kernel/transact.ts';
import { logCampaign } from '../campaign/log.ts';
import { releaseReservedSends } from '../control/release.ts';
import { dropDeadLetter, UNCERTAIN_EMAIL } from '../../platform/dead-letters.ts';
import { settleDirectSend } from '../control/direct-sends.ts';
import { lockSubject, subjectPayload } from './subject.ts';
import { message, type Message } from '../../../messages/index.ts';

/** Reason for the log: a reply or a report about the email shows that it was sent. */
export const MESSAGE_REFERS = message('sent.message_refers');

/**
 * Marks an email as sent. The email is uncertain, or waits for another attempt after a refusal or a lost answer. The
 * proof is a copy in the Sent folder, a message that refers to it, or a person's word. Its sending time is stored, and
 * it is not attempted again. Later emails may reply to it; if it was uncertain, only if no other email has begun the
 * conversation.
 * @param because the proof, for the campaign's log
 * @returns false when the email does not exist or is in another state
 */
export async function confirmSent(tx: Tx, sendId: string, because: Message): Promise<boolean> {
  const subject = await lockSubject(tx, sendId);
  const send = subject?.send;
  // An email without a Message-ID was never attempted.
  if (!send || send.message_id === null || !['uncertain', 'reserved'].includes(send.state)) return false;
  const isOffered = send.state === 'reserved' && !send.again;
  // The planned second attempt has its own slot, which is released.
  if (send.state === 'reserved' && send.again) await releaseReservedSends(tx, { sendId });
  const [row] = await tx.org.sql<{ sent_at: Date }>(
    `with settled as (
       update sends set state = 'sent', sent_at = coalesce(claimed_at, :now), again = false, updated_at = :now
       where organization_id = :org and id = :id and state in ('uncertain', 'reserved')
       returning step_run_id, enrollment_id, conversation, sent_at
     ), run as (
       update step_runs r set state = 'completed', outcome = 'sent', detail = null, completed_at = coalesce(r.completed_at, :now)
       from settled s where r.id = s.step_run_id and (r.outcome = 'uncertain' or r.state in ('running', 'waiting'))
     ), thread as (
       update enrollments e set conversation = s.conversation from settled s
       where e.id = s.enrollment_id and s.conversation is not null and (:isOffered or jsonb_array_length(e.conversation -> 'messageIds') = 0)
     )
     select sent_at from settled`,
    { id: sendId, now: tx.now, isOffered },
  );
  await dropDeadLetter(tx, UNCERTAIN_EMAIL, sendId);
  if (await settleDirectSend(tx, sendId, { state: 'sent' }, ['uncertain', 'queued'])) return true;
  tx.emit('campaign.email_sent', { ...subjectPayload(subject), sent_at: row!.sent_at.toISOString() });
  if (subject.campaignId)
    await logCampaign(
      tx,
      subject.campaignId,
      'send_settled',
      message('log.email_counts_as_sent', { reason: because }),
      {
        task_id: sendId,
        contact_id: subject.contactId,
        step_id: send.step_id,
      },
    );
  return true;
}
