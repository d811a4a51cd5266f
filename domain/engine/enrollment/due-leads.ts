import { MINUTE_MS } from '../../../lib/clock.ts';
import type { CampaignView } from '../campaign/campaign-view.ts';
import type { Tx } from '../../kernel/transact.ts';
import type { Entry } from './entry.ts';
import type { EngineContact } from './snapshot.ts';

/** A lead that waits as a row, with what the launcher decides by. */
export interface Lead {
  id: string;
  contact_id: string;
  mailbox_id: string | null;
  contact: Pick<
    EngineContact,
    'id' | 'email' | 'esp_provider' | 'custom_fields' | 'subscribed' | 'verification_status'
  >;
}

/** Sort expressions of contact_order_by; anything else orders by entry, which an index serves. */
const ORDERS: Record<string, string> = {
  email: 'ct.email',
  first_name: 'ct.first_name',
  last_name: 'ct.last_name',
  company: 'ct.company',
  updated_at: 'ct.updated_at',
};

/**
 * Leads that may be launched: those whose own moment has come first, then the others by entry, each from the end of one
 * index. Another order of the campaign sorts all that may be launched.
 * @param called whether there are any whose own moment has come
 */
export async function dueLeads(
  tx: Tx,
  campaign: CampaignView,
  { waitMs }: Entry,
  { limit, called: someCalled }: { limit: number; called: boolean },
): Promise<Lead[]> {
  const due = tx.now.getTime() - waitMs;
  // Who was there before the start waits from the start on.
  if (campaign.started_at && campaign.started_at.getTime() > due) return [];
  const dueBefore = new Date(due - campaign.entry_delay_minutes * MINUTE_MS);
  const direction = campaign.contact_order_dir === 'desc' ? 'desc' : 'asc';
  const byField =
    campaign.contact_order_by === 'custom_field' && campaign.contact_order_field
      ? 'ct.custom_fields ->> :field'
      : ORDERS[campaign.contact_order_by];
  const pick = async (condition: string, order: string, count: number): Promise<Lead[]> =>
    count <= 0
      ? []
      : tx.org.sql<Lead>(
          // Another order sorts all that may be launched, so the rows that are sorted hold no more than it needs.
          `with picked as materialized (
             select e.id, e.contact_id, e.mailbox_id, e.entered_at, e.launch_after
             from enrollments e ${byField ? 'join contacts ct on ct.id = e.contact_id' : ''}
             where e.organization_id = :org and e.campaign_id = :campaign and e.state = 'pending' and e.entered_at <= :due
               and (e.hold_since is null or e.hold_until <= :now) and ${condition}
             order by ${order} limit :count for update of e skip locked
           )
           select e.id, e.contact_id, e.mailbox_id,
             jsonb_build_object('id', ct.id, 'email', ct.email, 'esp_provider', ct.esp_provider, 'custom_fields', ct.custom_fields,
               'subscribed', ct.subscribed, 'verification_status', ct.verification_status) as contact
           from picked e join contacts ct on ct.id = e.contact_id order by ${order}` as `${string}:org${string}`,
          {
            campaign: campaign.id,
            due: dueBefore,
            now: tx.now,
            count,
            ...(byField ? { field: campaign.contact_order_field ?? '' } : {}),
          },
        );
  if (byField) return pick(`e.launch_after <= :now`, `${byField} ${direction} nulls last, e.entered_at, e.id`, limit);
  const called = await pick(
    `e.launch_after > 'epoch' and e.launch_after <= :now`,
    'e.launch_after, e.entered_at, e.id',
    someCalled ? limit : 0,
  );
  const fresh = await pick(
    `e.launch_after = 'epoch'`,
    `e.entered_at ${direction}, e.id ${direction}`,
    limit - called.length,
  );
  return [...called, ...fresh];
}
