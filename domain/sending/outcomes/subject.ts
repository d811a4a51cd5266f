import type { Columns } from '../../../db/rows.ts';
import { json } from '../../../db/connection.ts';
import { newId } from '../../../lib/ids.ts';
import { lockLeadsOfSend } from '../control/lock.ts';
import type { EventData } from '../../platform/kernel/event-payloads.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { isTestEmail } from '../control/test-runs.ts';

/** Whom and what a reply, bounce, complaint or opt-out is about. Parts that were deleted meanwhile are null. */
export interface Subject {
  send: LockedSend | null;
  /** What a person or an agent wrote, and no campaign's. */
  isDirect: boolean;
  campaignId: string | null;
  enrollmentId: string | null;
  contactId: string | null;
  /** Lower-case address that was, or would be, mailed. */
  email: string;
}

/** The fields of a received message in events. */
export interface ReceivedFacts {
  id: string;
  messageId: string;
  threadId: string;
  fromEmail: string;
  subject: string;
  receivedAt: Date;
}

/** The email something happened to, locked. */
type LockedSend = Columns<
  'sends',
  | 'id'
  | 'campaign_id'
  | 'enrollment_id'
  | 'step_id'
  | 'contact_id'
  | 'mailbox_id'
  | 'recipient'
  | 'message_id'
  | 'state'
  | 'again'
  | 'unsubscribed_at'
>;

/**
 * The email with everything it belongs to; enrollments and send are locked, in the order every writer takes them.
 * Undefined when there is no such email in the organization, and for the email of a test run, of which nothing follows.
 */
export async function lockSubject(tx: Tx, sendId: string): Promise<Subject | undefined> {
  await lockLeadsOfSend(tx, sendId);
  const [send] = await tx.org.sql<LockedSend & { is_direct: boolean }>(
    `select id, campaign_id, enrollment_id, step_id, contact_id, mailbox_id, recipient, message_id, state, again, unsubscribed_at,
       exists (select 1 from direct_sends d where d.id = sends.id) as is_direct
     from sends where organization_id = :org and id = :id for update`,
    { id: sendId },
  );
  if (!send || (send.enrollment_id === null && (await isTestEmail(tx.org, sendId)))) return undefined;
  return {
    send,
    isDirect: send.is_direct,
    campaignId: send.campaign_id,
    enrollmentId: send.enrollment_id,
    contactId: send.contact_id,
    email: send.recipient,
  };
}

type EngagementType = 'open' | 'click' | 'unsubscribe' | 'reply' | 'bounce' | 'complaint';

/**
 * Writes what happened into the engagement record, which the timeline and analytics read.
 * @param at when it happened, if not now
 */
export async function recordEngagement(
  tx: Tx,
  subject: Subject,
  type: EngagementType,
  source: string,
  detail: Record<string, unknown> = {},
  at = tx.now,
): Promise<void> {
  await tx.org.insert('engagement_events', {
    id: newId(),
    type,
    send_id: subject.send?.id ?? null,
    campaign_id: subject.campaignId,
    step_id: subject.send?.step_id ?? null,
    contact_id: subject.contactId,
    mailbox_id: subject.send?.mailbox_id ?? null,
    source,
    detail: json(detail),
    at,
  });
}

type EmailFacts = Omit<EventData<'campaign.email_sent'>, 'sent_at'>;

/** What the events about a recipient have in common; the ids that are not known are null. */
export function subjectPayload({ send, campaignId, contactId, email }: Subject): EmailFacts {
  return {
    campaign_id: campaignId,
    step_id: send?.step_id ?? null,
    contact_id: contactId,
    contact_email: email,
    email_account_id: send?.mailbox_id ?? null,
    task_id: send?.id ?? null,
    message_id: send?.message_id ?? null,
  };
}
