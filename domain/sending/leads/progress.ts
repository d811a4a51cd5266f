import type { OrgScope } from '../../../db/tenancy.ts';
import { Conditions } from '../../platform/conditions.ts';
import { leadStatusSql, type LeadStatus } from '../../directory/contact-filters.ts';
import type { Message } from '../../../messages/index.ts';

/** Progress of a contact in one campaign. */
export interface LeadProgress {
  contact_id: string;
  status: LeadStatus;
  sent: number;
  opened: number;
  clicked: number;
  replied: number;
  bounced: number;
  current_step: string | null;
  failure_reason: Message | null;
  last_activity_at: Date | null;
  hold_since: Date | null;
  hold_until: Date | null;
  hold_reason: Message | null;
  hold_source: 'manual' | 'out_of_office' | 'other_campaign' | null;
}

/** Returns the progress of contacts in one campaign, by contact id. Opens and clicks by machines do not count. */
export async function leadProgress(
  org: OrgScope,
  campaignId: string,
  contactIds: readonly string[],
  now: Date,
): Promise<Map<string, LeadProgress>> {
  if (contactIds.length === 0) return new Map();
  const bound = new Conditions('p');
  const status = leadStatusSql(bound, now);
  const rows = await org.sql<LeadProgress>(
    `select e.contact_id, ${status} as status, t.name as current_step, e.last_activity_at,
       case when e.state = 'failed' then e.failure_reason end as failure_reason,
       e.hold_since, e.hold_until, e.hold_reason, e.hold_source,
       n.sent, n.opened, n.clicked, n.replied, n.bounced
     from enrollments e
     left join campaign_steps t on t.id = e.current_step_id
     left join lateral (
       select count(s.sent_at) as sent, count(s.opened_at) as opened, count(s.clicked_at) as clicked,
         count(s.replied_at) as replied, count(s.bounced_at) as bounced
       from sends s where s.enrollment_id = e.id
     ) n on true
     where e.organization_id = :org and e.campaign_id = :campaign and e.contact_id = any(cast(:contacts as uuid[]))`,
    { ...bound.bindings, campaign: campaignId, contacts: contactIds },
  );
  return new Map(rows.map((row) => [row.contact_id, row]));
}
