import type { Tx } from '../../platform/kernel/transact.ts';
import type { CampaignView } from '../campaign/campaign-view.ts';

/** Leads that are given their place in one turn: the campaign is locked for no longer than that takes. The launcher looks again. */
const PAGE = 1_000;
/** Leads from here on have a place: all, and none. */
const LOWEST_ID = '00000000-0000-0000-0000-000000000000';
const HIGHEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Values of contact_order_by whose places leads keep (`enrollments.order_key`). */
const KEPT: ReadonlySet<string> = new Set(['email', 'first_name', 'last_name', 'company']);

/** By what a campaign orders its leads: a field whose value they keep, the time of the contact's last change, or their entry. */
export function leadOrder(
  campaign: Pick<CampaignView, 'contact_order_by' | 'contact_order_field'>,
): 'field' | 'updated_at' | 'entry' {
  const { contact_order_by: by, contact_order_field: field } = campaign;
  if (KEPT.has(by) || (by === 'custom_field' && field)) return 'field';
  return by === 'updated_at' ? by : 'entry';
}

/**
 * Gives the next page of leads their place in the order of a locked campaign, after that order has been changed; leads that are added later enter with theirs.
 * Those that are locked at this moment stay without, and come last.
 * @returns whether it did; false when there is nothing left to do
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
