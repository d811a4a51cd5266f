import { json } from '../../../db/connection.ts';
import type { Columns } from '../../../db/rows.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import type { Message } from '../../../messages/index.ts';
import { releaseReservedSends } from './release.ts';
import { signalControl } from './signals.ts';

type Lead = Columns<'enrollments', 'id' | 'campaign_id' | 'contact_id' | 'launched_at'>;

/**
 * Binds a locked campaign to the approval of its start, so that its emails are compared with that approval. Approves
 * all open leads, also those that waited for an approval, with their contacts' current values.
 * @param fields merge fields that the texts read
 */
export async function bindCampaign(
  tx: Tx,
  campaignId: string,
  approval: { id: string; fields: readonly string[] },
): Promise<void> {
  await tx.org.table('campaigns').where({ id: campaignId }).update({ approval_id: approval.id });
  await approve(tx, campaignId, `e.state in ('pending', 'active')`, { fields: [...approval.fields] });
}

/**
 * Removes the binding of a locked campaign to its approval, because a person or a policy starts it without one. Leads
 * that wait for an approval keep waiting.
 */
export async function unbindCampaign(tx: Tx, campaignId: string): Promise<void> {
  await tx.org.sql(
    `with freed as (update campaigns set approval_id = null where organization_id = :org and id = :campaign)
     update enrollments set approved = null
     where organization_id = :org and campaign_id = :campaign and approved is not null and hold_source is distinct from 'approval'`,
    { campaign: campaignId },
  );
}

/**
 * Approves the leads of a locked campaign that wait for an approval, with their contacts' current values.
 * @returns number of approved leads
 */
export async function approveWaiting(tx: Tx, campaignId: string, fields: readonly string[]): Promise<number> {
  const leads = await approve(tx, campaignId, `e.hold_source = 'approval' and e.state in ('pending', 'active')`, {
    fields: [...fields],
  });
  for (const lead of leads) if (lead.launched_at) signalControl(tx, lead, 'released');
  return leads.length;
}

/**
 * Records that leads of a locked campaign need no approval, because a person or a policy has added or resumed them. In
 * a campaign with an approval, their current values become the approved ones.
 */
export async function approveAdded(
  tx: Tx,
  campaign: Columns<'campaigns', 'id' | 'approval_id'>,
  leadIds: readonly string[],
): Promise<void> {
  await tx.org.sql(
    `update enrollments e set hold_since = null, hold_until = null, hold_reason = null, hold_source = null,
       approved = (select heron_lead_values(c, array(select jsonb_array_elements_text(a.binding -> 'fields')))
         from approvals a, contacts c where a.organization_id = :org and a.id = :approval and c.id = e.contact_id)
     where e.organization_id = :org and e.campaign_id = :campaign and e.id = any(cast(:ids as uuid[]))`,
    { campaign: campaign.id, approval: campaign.approval_id, ids: [...leadIds] },
  );
}

async function approve(
  tx: Tx,
  campaignId: string,
  condition: string,
  { fields }: { fields: string[] },
): Promise<Lead[]> {
  const wasWaiting = `case when e.hold_source = 'approval' then null else e`;
  return tx.org.sql<Lead>(
    `with open as (
       select e.id from enrollments e where e.organization_id = :org and e.campaign_id = :campaign and ${condition} order by e.id for update
     )
     update enrollments e set approved = heron_lead_values(c, cast(:fields as text[])), hold_since = ${wasWaiting}.hold_since end,
       hold_until = ${wasWaiting}.hold_until end, hold_reason = ${wasWaiting}.hold_reason end, hold_source = ${wasWaiting}.hold_source end
     from open, contacts c where e.id = open.id and c.id = e.contact_id
     returning e.id, e.campaign_id, e.contact_id, e.launched_at`,
    { campaign: campaignId, fields },
  );
}

/** Holds leads that have just been added to a locked campaign until a person approves them. */
export async function holdAdded(
  tx: Tx,
  campaignId: string,
  leadIds: readonly string[],
  reason: Message,
): Promise<void> {
  await tx.org.sql(
    `update enrollments set approved = '{}', hold_since = :now, hold_until = null, hold_reason = cast(:reason as jsonb), hold_source = 'approval'
     where organization_id = :org and campaign_id = :campaign and id = any(cast(:ids as uuid[]))`,
    { campaign: campaignId, ids: [...leadIds], reason: json(reason), now: tx.now },
  );
}

/**
 * Holds a lead whose email differs from its approval, until a person approves it again. All other leads of the locked
 * campaign whose values have changed since their approval are held too.
 * @returns number of held leads
 */
export async function holdChanged(tx: Tx, campaignId: string, enrollmentId: string, reason: Message): Promise<number> {
  const held = await tx.org.sql<Lead>(
    `with changed as (
       select e.id from enrollments e join contacts c on c.id = e.contact_id
       where e.organization_id = :org and e.campaign_id = :campaign and e.state in ('pending', 'active') and e.hold_source is distinct from 'approval'
         and (e.id = :enrollment or heron_lead_changes(c, e.approved) <> '{}')
       order by e.id for update of e
     )
     update enrollments e set hold_since = coalesce(e.hold_since, :now), hold_until = null, hold_reason = cast(:reason as jsonb), hold_source = 'approval'
     from changed where e.id = changed.id
     returning e.id, e.campaign_id, e.contact_id, e.launched_at`,
    { campaign: campaignId, enrollment: enrollmentId, reason: json(reason), now: tx.now },
  );
  await releaseReservedSends(tx, { enrollmentIds: held.map(({ id }) => id) });
  for (const lead of held) if (lead.launched_at) signalControl(tx, lead, 'held');
  return held.length;
}
