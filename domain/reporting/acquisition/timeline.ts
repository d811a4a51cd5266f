import { notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { lastSend } from '../aggregates/acquisitions.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';

export const TIMELINE_KINDS = ['enrollment', 'send', 'reply', 'draft', 'event', 'conversion'] as const;

/** An entry in a contact's timeline. */
export interface TimelineItem {
  kind: (typeof TIMELINE_KINDS)[number];
  /** Id of the enrollment, send, recorded reply, draft, event or conversion. */
  id: string;
  at: Date;
  campaign_id: string | null;
  send_id: string | null;
  /** State of the enrollment, subject of the send or draft, intent of the reply, or name of the event or goal. */
  title: string | null;
  goal_id: string | null;
  value_minor: number | null;
  currency: string | null;
  /** The last confirmed send before a conversion. It is shown for context and need not be the credited send. */
  last_send_before: { send_id: string; campaign_id: string; sent_at: string } | null;
}

/** Maximum number of entries in a timeline. */
const MAX_ITEMS = 500;

/**
 * Returns a contact's timeline, latest first, at most 500 entries (GET /acquisition/prospects/:contactId/timeline). A
 * key restricted to mailboxes sees only drafts of these mailboxes.
 * @throws AppError not_found
 */
export async function readTimeline(ctx: Ctx, contactId: string): Promise<TimelineItem[]> {
  const org = reader(ctx);
  const contact = isUuid(contactId)
    ? await org.table('contacts').where({ id: contactId }).first('id', 'email')
    : undefined;
  if (!contact) throw notFound('contact');
  return org.sql<TimelineItem>(
    `with person as (select id from people where organization_id = :org and contact_id = :contact), items as (
       (select 'enrollment' as kind, id, entered_at as at, campaign_id, null::uuid as send_id, state as title, null::uuid as goal_id,
          null::float8 as value_minor, null::text as currency, null::jsonb as last_send_before
        from enrollments where organization_id = :org and contact_id = :contact order by entered_at desc limit ${MAX_ITEMS})
       union all
       (select 'send', f.send_id, f.sent_at, f.campaign_id, f.send_id, s.subject, null, null, null, null
        from send_facts f left join sends s on s.id = f.send_id
        where f.organization_id = :org and f.contact_id = :contact and f.sent_at is not null order by f.sent_at desc limit ${MAX_ITEMS})
       union all
       (select 'reply', e.id, e.at, e.campaign_id, e.send_id, e.detail ->> 'intent', null, null, null, null
        from engagement_events e join send_facts f on f.send_id = e.send_id
        where e.organization_id = :org and f.contact_id = :contact and e.type = 'reply' order by e.at desc limit ${MAX_ITEMS})
       union all
       (select 'draft', d.id, d.updated_at, null, null, d.subject, null, null, null, null
        from email_drafts d where d.organization_id = :org and d.thread_id is not null and :email = any(d.to_emails)
          and (cast(:mailboxes as uuid[]) is null or d.mailbox_id = any(:mailboxes))
        order by d.updated_at desc limit ${MAX_ITEMS})
       union all
       (select 'event', e.id, e.occurred_at, null, null, e.name, null, null, null, null
        from product_events e where e.organization_id = :org and (e.contact_id = :contact or e.person_id = (select id from person))
        order by e.occurred_at desc limit ${MAX_ITEMS})
       union all
       (select 'conversion', v.id, v.occurred_at, null, null, g.name, v.goal_id, v.value_minor::float8, v.currency,
          (select jsonb_build_object('send_id', l.send_id, 'campaign_id', f.campaign_id, 'sent_at', l.sent_at)
           from (${lastSend(':contact::uuid', 'v.occurred_at')}) l join send_facts f on f.send_id = l.send_id)
        from conversions v join goals g on g.id = v.goal_id where v.organization_id = :org and v.person_id in (select id from person)
        order by v.occurred_at desc limit ${MAX_ITEMS})
     )
     select * from items order by at desc, kind, id desc limit ${MAX_ITEMS}`,
    { contact: contact.id, email: contact.email, mailboxes: ctx.actor.allowedMailboxes },
  );
}
