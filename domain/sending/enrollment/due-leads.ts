import { MINUTE_MS } from '../../../lib/clock.ts';
import type { CampaignView } from '../campaign/campaign-view.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { askedNow } from '../../directory/suppression-check.ts';
import type { Entry } from './entry.ts';
import { leadOrder } from './lead-order.ts';
import type { EngineContact } from './snapshot.ts';

/** A lead without a workflow, with the fields that the launcher needs. */
export interface Lead {
  id: string;
  contact_id: string;
  mailbox_id: string | null;
  /** True if the lead has begun this campaign before. Its workflow then determines the next step. */
  came_back: boolean;
  entered_at: Date;
  /** True if a person must decide whether the contact has opted out. The lead's workflow then holds the lead. */
  asked: boolean;
  contact: Pick<
    EngineContact,
    'id' | 'email' | 'esp_provider' | 'custom_fields' | 'subscribed' | 'verification_status'
  >;
}

/** Maximum number of leads requeued in one iteration, to limit the time for which the campaign is locked. */
const BACK_PAGE = 1_000;

/**
 * Returns and locks leads that may be launched, in the order of their campaign: by entry, by a stored field value, or
 * by the contact's last change. Leads without a value come last. Each query reads the start of one index, except that
 * sorting by last change sorts all due leads. When ordered by entry, leads whose own time (`launch_after`) has come are
 * first. When ordered by a field, {@link requeueCalled} has put them back into the order before.
 * @param called true when there are leads whose own launch time has passed
 */
export async function dueLeads(
  tx: Tx,
  campaign: CampaignView,
  { waitMs }: Entry,
  { limit, called }: { limit: number; called: boolean },
): Promise<Lead[]> {
  const due = tx.now.getTime() - waitMs;
  // For leads added before the campaign's start, the entry delay begins at the start.
  if (campaign.started_at && campaign.started_at.getTime() > due) return [];
  const dueBefore = new Date(due - campaign.entry_delay_minutes * MINUTE_MS);
  const direction = campaign.contact_order_dir === 'desc' ? 'desc' : 'asc';
  const found: Lead[] = [];
  const pick = async (condition: string, order: string): Promise<void> => {
    if (found.length >= limit) return;
    const leads = await tx.org.sql<Lead>(
      `with picked as materialized (
         select e.id, e.contact_id, e.mailbox_id, e.entered_at, e.launch_after, e.order_key, e.current_step_id
         from enrollments e ${order.includes('ct.') ? 'join contacts ct on ct.id = e.contact_id' : ''}
         where e.organization_id = :org and e.campaign_id = :campaign and e.state = 'pending' and e.entered_at <= :due
           and (e.hold_since is null or e.hold_until <= :now) and ${condition}
         order by ${order} limit :count for update of e skip locked
       )
       select e.id, e.contact_id, e.mailbox_id, e.entered_at, ${askedNow('cast(:org as uuid)', 'ct.email')} as asked,
         e.current_step_id is not null or exists (select 1 from sends s where s.enrollment_id = e.id) as came_back,
         jsonb_build_object('id', ct.id, 'email', ct.email, 'esp_provider', ct.esp_provider, 'custom_fields', ct.custom_fields,
           'subscribed', ct.subscribed, 'verification_status', ct.verification_status) as contact
       from picked e join contacts ct on ct.id = e.contact_id order by ${order}` as `${string}:org${string}`,
      { campaign: campaign.id, due: dueBefore, now: tx.now, count: limit - found.length },
    );
    found.push(...leads);
  };
  const byEntry = `e.entered_at ${direction}, e.id ${direction}`;
  switch (leadOrder(campaign)) {
    case 'field':
      await pick(`e.launch_after = 'epoch' and e.order_key > ''`, `e.order_key ${direction}, ${byEntry}`);
      await pick(`e.launch_after = 'epoch' and e.order_key = ''`, byEntry);
      // Leads without an order key, because they were locked when the keys were set.
      await pick(`e.launch_after = 'epoch' and e.order_key is null`, byEntry);
      break;
    case 'updated_at':
      await pick(`e.launch_after <= :now`, `ct.updated_at ${direction}, e.entered_at, e.id`);
      break;
    case 'entry':
      if (called) await pick(IS_CALLED, 'e.launch_after, e.entered_at, e.id');
      await pick(`e.launch_after = 'epoch'`, byEntry);
  }
  return found;
}

/** SQL condition: the lead's own launch time (`launch_after`) has passed. */
const IS_CALLED = `e.launch_after > 'epoch' and e.launch_after <= :now`;

/**
 * Puts leads whose own launch time has passed back into the order of a campaign that is ordered by a field. All must be
 * back before any lead is launched, otherwise their times would decide the order. Works in pages; skips locked leads,
 * which a later iteration puts back.
 * @returns true if some leads may be left
 */
export async function requeueCalled(tx: Tx, campaign: CampaignView): Promise<boolean> {
  if (leadOrder(campaign) !== 'field') return false;
  const [back] = await tx.org.sql<{ n: number }>(
    `with called as (
       select e.id from enrollments e where e.organization_id = :org and e.campaign_id = :campaign and e.state = 'pending' and ${IS_CALLED}
       order by e.launch_after limit ${BACK_PAGE} for update skip locked
     ), back as (
       -- The array makes the planner use the primary key, even if it expects many rows.
       update enrollments set launch_after = 'epoch' where organization_id = :org and id = any(array(select id from called)) returning 1
     )
     select count(*)::int as n from back`,
    { campaign: campaign.id, now: tx.now },
  );
  return back!.n === BACK_PAGE;
}
