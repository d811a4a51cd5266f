import type { Tx } from '../../kernel/transact.ts';
import { logCampaign } from '../campaign/log.ts';
import { dropDeadLetter, UNCERTAIN_EMAIL } from '../../records/dead-letters.ts';
import { settleDirectSend } from '../../records/direct-sends.ts';
import { lockSubject, subjectPayload } from './subject.ts';

/**
 * Settles an uncertain email as sent: a copy was found, or a person says that it left. It counts from the moment it was
 * sent, and later emails may reply to it where nothing else has begun the conversation.
 * @param because how that is known, for the campaign's log
 * @returns false when there is no such email, or it is not uncertain
 */
export async function confirmSent(tx: Tx, sendId: string, because: string): Promise<boolean> {
  const subject = await lockSubject(tx, sendId);
  if (subject?.send?.state !== 'uncertain') return false;
  const [row] = await tx.org.sql<{ sent_at: Date }>(
    `with settled as (
       update sends set state = 'sent', sent_at = coalesce(claimed_at, :now), again = false, updated_at = :now
       where organization_id = :org and id = :id and state = 'uncertain'
       returning step_run_id, enrollment_id, conversation, sent_at
     ), run as (
       update step_runs r set outcome = 'sent', detail = null from settled s where r.id = s.step_run_id and r.outcome = 'uncertain'
     ), thread as (
       update enrollments e set conversation = s.conversation from settled s
       where e.id = s.enrollment_id and s.conversation is not null and jsonb_array_length(e.conversation -> 'messageIds') = 0
     )
     select sent_at from settled`,
    { id: sendId, now: tx.now },
  );
  await dropDeadLetter(tx, UNCERTAIN_EMAIL, sendId);
  if (await settleDirectSend(tx, sendId, { state: 'sent' }, ['uncertain', 'queued'])) return true;
  tx.emit('campaign.email_sent', { ...subjectPayload(subject), sent_at: row!.sent_at.toISOString() });
  if (subject.campaignId)
    await logCampaign(tx, subject.campaignId, 'send_settled', `An uncertain email counts as sent: ${because}`, {
      task_id: sendId,
      contact_id: subject.contactId,
      step_id: subject.send.step_id,
    });
  return true;
}
