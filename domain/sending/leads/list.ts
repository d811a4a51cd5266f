import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../../lib/cursor.ts';
import { Conditions } from '../../platform/conditions.ts';
import { addTextSearch, leadStatusSql, type LeadStatus } from '../../directory/contact-filters.ts';
import { may } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { findCampaign } from '../campaign/find.ts';
import { shownWait } from '../enrollment/shown-wait.ts';
import type { Message, MessageCode } from '../../../messages/index.ts';

/** Message shown for a lead whose first email has a slot but whose workflow has not started. */
const HAS_SLOT: MessageCode = 'wait.has_slot';

export { LEAD_STATUSES } from '../../directory/contact-filters.ts';

/** A lead of a campaign with its progress and the reason for which it waits. */
export interface LeadRow {
  id: string;
  contact_id: string;
  status: LeadStatus;
  current_step_id: string | null;
  current_step: string | null;
  waiting_for: Message | null;
  waiting_until: Date | null;
  blocked: boolean;
  failure_reason: Message | null;
  hold_since: Date | null;
  hold_until: Date | null;
  hold_reason: Message | null;
  hold_source: 'manual' | 'out_of_office' | 'other_campaign' | 'approval' | null;
  entered_at: Date;
  launched_at: Date | null;
  last_activity_at: Date | null;
  finished_at: Date | null;
  /** Null when the caller may not see contacts. */
  contact: { email: string; first_name: string; last_name: string; company: string } | null;
}

/**
 * Lists the leads of a campaign, newest first. A held lead has the status `paused`. Names and addresses are included
 * only for callers who may see contacts.
 * @throws AppError not_found, bad_request for an invalid cursor
 */
export async function listLeads(
  ctx: Ctx,
  campaignId: string,
  filters: {
    status?: LeadStatus | undefined;
    /** Id of the step at which the leads are now. */
    stepId?: string | undefined;
    /** Text that the name, email or company must contain. Ignored for callers who may not see contacts. */
    q?: string | undefined;
    contactId?: string;
  },
  page: PageRequest,
): Promise<Page<LeadRow>> {
  const org = reader(ctx);
  const campaign = await findCampaign(org, campaignId);
  const isSeen = may(ctx.actor, ['READ_CONTACTS'], ['view_contacts']);
  const key = [campaign.id, filters.status, filters.stepId, filters.q, filters.contactId];
  const where = new Conditions('l');
  const status = leadStatusSql(where, ctx.clock.now());
  const after = decodeIdCursor('campaigns.leads', key, page.cursor);
  if (after) where.add(`e.id < ${where.bind(after, 'uuid')}`);
  if (filters.contactId) where.add(`e.contact_id = ${where.bind(filters.contactId, 'uuid')}`);
  if (filters.stepId) where.add(`e.current_step_id = ${where.bind(filters.stepId, 'uuid')}`);
  if (isSeen) addTextSearch(where, filters.q);
  if (filters.status) {
    where.add(`${status} = ${where.bind(filters.status, 'text')}`);
    // Filters by the indexed column `state`. A held lead is an unfinished lead with a hold.
    where.add(
      `e.state = any(${where.bind(filters.status === 'paused' ? ['pending', 'active'] : [filters.status], 'text[]')})`,
    );
  }
  const contact = isSeen
    ? `jsonb_build_object('email', c.email, 'first_name', c.first_name, 'last_name', c.last_name, 'company', c.company)`
    : 'null::jsonb';
  const rows = await org.sql<LeadRow & { state: string }>(
    `select e.id, e.contact_id, e.state, ${status} as status, e.current_step_id, s.name as current_step, coalesce(e.waiting_for, case when planned.at is not null then jsonb_build_object('code', '${HAS_SLOT}', 'values', jsonb_build_object()) end) as waiting_for,
       case when e.waiting_for is null then planned.at else e.waiting_until end as waiting_until, e.blocked,
       e.failure_reason, e.hold_since, e.hold_until, e.hold_reason, e.hold_source, e.entered_at, e.launched_at, e.last_activity_at,
       e.finished_at, ${contact} as contact
     from enrollments e join contacts c on c.id = e.contact_id left join campaign_steps s on s.id = e.current_step_id
       -- The launcher reserves the first email before a run exists that could store the reason for waiting.
       left join lateral (
         select min(slot_at) as at from sends where organization_id = :org and enrollment_id = e.id and state = 'reserved'
       ) planned on e.state = 'pending'
     where e.organization_id = :org and e.campaign_id = :campaign and ${where.all()}
     order by e.id desc limit :limit`,
    { ...where.bindings, campaign: campaign.id, limit: page.limit + 1 },
  );
  const leads = rows.map(({ state, ...lead }): LeadRow => ({
    ...lead,
    ...shownWait(lead, { state, blocked: lead.blocked, campaignStatus: campaign.status }),
  }));
  return pageOf(leads, page.limit, (last) => encodeCursor('campaigns.leads', key, [last.id]));
}
