import type { Columns } from '../../../db/rows.ts';
import { json } from '../../../db/connection.ts';
import { newId } from '../../../lib/ids.ts';
import { lockLeadsOfSend } from '../control/lock.ts';
import type { EventData } from '../../platform/kernel/event-payloads.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { isTestEmail } from '../control/test-runs.ts';

/** The email and ids that a reply, bounce, complaint or opt-out refers to. Ids of deleted rows are null. */
export interface Subject {
  send: LockedSend | null;
  /** True for an email written by a person or an agent, which belongs to no campaign. */
  isDirect: boolean;
  campaignId: string | null;
  enrollmentId: string | null;
  contactId: string | null;
  /** Lower-case address that was or would be mailed. */
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

/** Columns of the email that an event refers to. Its row is locked. */
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
 * Returns the email with its related ids. Locks enrollments and the send, as all writers do. Returns undefined for an
 * unknown email and for a test run's email, which has no effects.
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
 * Writes an engagement event, which the timeline and analytics read.
 * @param at time of the event; defaults to now
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

/** Returns the common payload of events about a recipient. Unknown ids are null. */
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
