import type { Tx } from '../../platform/kernel/transact.ts';
import type { CampaignView } from '../campaign/campaign-view.ts';

/**
 * Maximum number of leads ordered in one iteration. Limits the time for which the campaign is locked; the launcher
 * continues with the next page.
 */
const PAGE = 1_000;
/**
 * Bounds of `leads_ordered_from`, the lowest id of a lead with an order key. LOWEST_ID means that all leads have a key.
 * No lead has the id HIGHEST_ID.
 */
const LOWEST_ID = '00000000-0000-0000-0000-000000000000';
const HIGHEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Values of `contact_order_by` for which each lead stores a sort key (`enrollments.order_key`). */
const KEPT: ReadonlySet<string> = new Set(['email', 'first_name', 'last_name', 'company']);

/** Returns how a campaign orders its leads: by a stored field value, by the contact's last change, or by entry. */
export function leadOrder(
  campaign: Pick<CampaignView, 'contact_order_by' | 'contact_order_field'>,
): 'field' | 'updated_at' | 'entry' {
  const { contact_order_by: by, contact_order_field: field } = campaign;
  if (KEPT.has(by) || (by === 'custom_field' && field)) return 'field';
  return by === 'updated_at' ? by : 'entry';
}

/**
 * Stores the order keys of the next page of leads after a locked campaign's order was changed. Leads added later get
 * their key on entry. Skips locked leads, which come last.
 * @returns false when all leads are ordered
 */
export async function orderLeads(tx: Tx, campaign: CampaignView): Promise<boolean> {
  if (leadOrder(campaign) !== 'field' || campaign.leads_ordered_from === LOWEST_ID) return false;
  const [page] = await tx.org.sql<{ from: string | null; leads: number }>(
    `with page as (
       select id from enrollments where organization_id = :org and campaign_id = :campaign and id < :to::uuid order by id desc limit ${PAGE}
     ), waiting as (
       select id, contact_id from enrollments where id = any(array(select id from page)) and state = 'pending' for update skip locked
     ), ordered as (
       update enrollments e set order_key = heron_lead_order(:by, :field, ct)
       from waiting w join contacts ct on ct.id = w.contact_id
       where e.id = w.id and e.order_key is distinct from heron_lead_order(:by, :field, ct)
     )
     select (select id from page order by id limit 1) as "from", (select count(*) from page)::int as leads`,
    {
      campaign: campaign.id,
      to: campaign.leads_ordered_from ?? HIGHEST_ID,
      by: campaign.contact_order_by,
      field: campaign.contact_order_field ?? '',
    },
  );
  const { from, leads } = page!;
  await tx.org
    .table('campaigns')
    .where({ id: campaign.id })
    .update({ leads_ordered_from: leads < PAGE ? LOWEST_ID : from });
  return true;
}
