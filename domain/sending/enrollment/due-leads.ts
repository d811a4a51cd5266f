import { MINUTE_MS } from '../../../lib/clock.ts';
import type { CampaignView } from '../campaign/campaign-view.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import type { Entry } from './entry.ts';
import { leadOrder } from './lead-order.ts';
import type { EngineContact } from './snapshot.ts';

/** A lead that waits as a row, with what the launcher decides by. */
export interface Lead {
  id: string;
  contact_id: string;
  mailbox_id: string | null;
  /** It was a lead before, and has got emails of this campaign: its run finds out which comes next. */
  came_back: boolean;
  contact: Pick<
    EngineContact,
    'id' | 'email' | 'esp_provider' | 'custom_fields' | 'subscribed' | 'verification_status'
  >;
}

/** Leads whose moment has come that are put back into the order of their campaign in one turn: its lock is held for no longer than that takes. */
const BACK_PAGE = 1_000;

/**
 * Leads that may be launched, in the order of their campaign: by entry, or by the value of a field that leads keep; who has none comes last. Each is the end of
 * one index. By entry those whose own moment has come are first; in the order of a field they have been put back ({@link putBackCalled}). The
 * time of the contacts' last change sorts all that may be launched.
 * @param called whether there are any whose own moment has come
 */
export async function dueLeads(
  tx: Tx,
  campaign: CampaignView,
  { waitMs }: Entry,
  { limit, called }: { limit: number; called: boolean },
): Promise<Lead[]> {
  const due = tx.now.getTime() - waitMs;
  // Who was there before the start waits from the start on.
  if (campaign.started_at && campaign.started_at.getTime() > due) return [];
  const dueBefore = new Date(due - campaign.entry_delay_minutes * MINUTE_MS);
  const direction = campaign.contact_order_dir === 'desc' ? 'desc' : 'asc';
  const found: Lead[] = [];
  const pick = async (condition: string, order: string): Promise<void> => {
    if (found.length >= limit) return;
    const leads = await tx.org.sql<Lead>(
      `with picked as materialized (
         select e.id, e.contact_id, e.mailbox_id, e.entered_at, e.launch_after, e.order_key
         from enrollments e ${order.includes('ct.') ? 'join contacts ct on ct.id = e.contact_id' : ''}
         where e.organization_id = :org and e.campaign_id = :campaign and e.state = 'pending' and e.entered_at <= :due
           and (e.hold_since is null or e.hold_until <= :now) and ${condition}
         order by ${order} limit :count for update of e skip locked
       )
       select e.id, e.contact_id, e.mailbox_id, exists (select 1 from sends s where s.enrollment_id = e.id) as came_back,
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
      // Those that were locked when the others got their place.
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

/** A lead whose own moment has come. */
const IS_CALLED = `e.launch_after > 'epoch' and e.launch_after <= :now`;

/**
 * Puts leads whose own moment has come back into the order of their campaign, where a field orders it: they are then due like all others. None
 * may be launched before all of them are back, or the order would be that of their moments. Pages through them; those that are locked at this
 * moment are put back in a later turn.
 * @returns whether some may be left
 */
export async function requeueCalled(tx: Tx, campaign: CampaignView): Promise<boolean> {
  if (leadOrder(campaign) !== 'field') return false;
  const [back] = await tx.org.sql<{ n: number }>(
    `with called as (
       select e.id from enrollments e where e.organization_id = :org and e.campaign_id = :campaign and e.state = 'pending' and ${IS_CALLED}
       order by e.launch_after limit ${BACK_PAGE} for update skip locked
     ), back as (
       -- As an array they are looked up one by one, however many they seem beside all leads.
       update enrollments set launch_after = 'epoch' where organization_id = :org and id = any(array(select id from called)) returning 1
     )
     select count(*)::int as n from back`,
    { campaign: campaign.id, now: tx.now },
  );
  return back!.n === BACK_PAGE;
}
