import {
  decodeCursor,
  encodeCursor,
  isTimestampText,
  pageOf,
  type Page,
  type PageRequest,
} from '../../../lib/cursor.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Message } from '../../../messages/index.ts';
import { assertContact } from '../../crm/activities.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';

export const TIMELINE_TYPES = [
  'email_sent',
  'email_opened',
  'email_clicked',
  'email_replied',
  'email_bounced',
  'reply_received',
  'deliverability',
  'suppressed',
  'note',
  'meeting_booked',
  'meeting_rescheduled',
  'meeting_canceled',
  'contact_created',
  'campaign_added',
] as const;

/** An entry of a contact's timeline. Fields that its type does not have are null. */
export interface TimelineEntry {
  type: (typeof TIMELINE_TYPES)[number];
  at: Date;
  /** Time of the entry in PostgreSQL's text form, with microseconds, for the cursor. */
  position: string;
  id: string;
  email_account_id: string | null;
  campaign_id: string | null;
  step_id: string | null;
  task_id: string | null;
  subject: string | null;
  reason: string | null;
  source: string | null;
  intent: string | null;
  content: string | null;
  user_id: string | null;
  machine: boolean | null;
  machine_reason: string | null;
  /** Reason recorded by Heron as a message, which is shown translated in place of `reason`. */
  reason_message: Message | null;
  email_account_email: string | null;
  email_account_name: string | null;
  campaign_name: string | null;
  step_name: string | null;
}

const LIST = 'contacts.timeline';

/** Columns that the query of each part of the timeline selects, in this order. */
const COLUMNS = `type, at, id, email_account_id, campaign_id, step_id, task_id, subject, reason, source, intent, content, user_id, machine, machine_reason, reason_message`;

/** Returns the SQL condition that restricts rows to the mailboxes of an API key. */
const READABLE = (column: string) =>
  `(cast(:mailboxes as uuid[]) is null or ${column} = any(cast(:mailboxes as uuid[])))`;

/** SQL queries of the timeline's parts. Each is read completely, because one contact has few rows. */
const PARTS = [
  `select 'email_sent', sent_at, id, mailbox_id, campaign_id, step_id, id, subject, null, null, null, null, null::uuid, null::boolean, null, null::jsonb
   from sends where organization_id = :org and contact_id = :contact and sent_at is not null and ${READABLE('mailbox_id')}`,
  `select case e.type when 'open' then 'email_opened' when 'click' then 'email_clicked' when 'reply' then 'email_replied'
       when 'bounce' then 'email_bounced' else 'deliverability' end,
     e.at, e.id, e.mailbox_id, e.campaign_id, e.step_id, e.send_id, s.subject, e.detail ->> 'reason',
     case when e.type in ('unsubscribe', 'complaint') then e.type else e.source end, e.detail ->> 'intent', null, null,
     case when e.type in ('open', 'click') then e.machine end, e.machine_reason, null
   from engagement_events e left join sends s on s.id = e.send_id
   where e.organization_id = :org and e.contact_id = :contact and e.announce_at is null and ${READABLE('e.mailbox_id')}`,
  // Received messages that do not answer a campaign email.
  `select 'reply_received', received_at, id, mailbox_id, campaign_id, null, null, subject, null, null, intent, null, null, null, null, null
   from inbound_messages where organization_id = :org and contact_id = :contact and kind = 'reply' and send_id is null and ${READABLE('mailbox_id')}`,
  `select 'suppressed', p.created_at, p.id, null, p.campaign_id, null, null, null, null, p.source, null, null, null, null, null, p.reason
   from suppressions p join contacts c on c.email = p.email
   where p.organization_id = :org and c.organization_id = :org and c.id = :contact and p.kind = 'email'`,
  `select 'note', created_at, id, null, null, null, null, null, null, null, null, content, user_id, null, null, null
   from contact_notes where organization_id = :org and contact_id = :contact`,
  `select activity_type, created_at, id, null, null, null, null, null, null, metadata ->> 'source', null, null, user_id, null, null, null
   from crm_activities where organization_id = :org and contact_id = :contact and activity_type like 'meeting%'`,
  `select 'contact_created', created_at, id, null, null, null, null, null, source_detail, source, null, null, null, null, null, null
   from contacts where organization_id = :org and id = :contact`,
  `select 'campaign_added', entered_at, id, null, campaign_id, null, null, null, null, source, null, null, null, null, null, null
   from enrollments where organization_id = :org and contact_id = :contact`,
];

/**
 * Returns everything that happened with a contact, latest first: emails, responses, notes, meetings, campaigns. A key
 * restricted to mailboxes sees only emails of these mailboxes.
 * @throws AppError not_found, bad_request for a cursor of another list
 */
export async function readContactTimeline(
  ctx: Ctx,
  contactId: string,
  page: PageRequest,
): Promise<Page<TimelineEntry>> {
  const org = reader(ctx);
  await assertContact(org, contactId);
  const after = decodeCursor<[string, string]>(LIST, contactId, page.cursor, [isTimestampText, isUuid]);
  const [at, id] = after ?? [];
  const rows = await org.sql<TimelineEntry>(
    `with entries (${COLUMNS}) as (${PARTS.join(' union all ')}), page as (
       select * from entries ${after ? 'where (at, id) < (cast(:at as timestamptz), :id)' : ''} order by at desc, id desc limit :limit
     )
     select p.*, p.at::text as position, m.email as email_account_email, m.name as email_account_name, c.name as campaign_name, s.name as step_name
     from page p left join mailboxes m on m.id = p.email_account_id left join campaigns c on c.id = p.campaign_id
       left join campaign_steps s on s.id = p.step_id
     order by p.at desc, p.id desc` as `${string}:org${string}`,
    {
      contact: contactId,
      mailboxes: ctx.actor.allowedMailboxes,
      limit: page.limit + 1,
      ...(after ? { at, id } : {}),
    },
  );
  return pageOf(rows, page.limit, (last) => encodeCursor(LIST, contactId, [last.position, last.id]));
}
