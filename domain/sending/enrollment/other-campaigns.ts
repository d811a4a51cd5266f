import { HOUR_MS } from '../../../lib/clock.ts';
import type { CampaignView } from '../campaign/campaign-view.ts';
import type { OutreachSettings } from '../campaign/outreach-settings.ts';
import type { Tx } from '../../platform/kernel/transact.ts';

/** Length of a hold (ms), after which the launcher checks the other campaign again. */
const HELD_MS = HOUR_MS;

/**
 * Holds leads whose contact is in progress in another active campaign, if the settings have `campaign_overlap.mode:
 * hold`. A hold lasts an hour and is renewed while the contact is active elsewhere. The lead starts when the contact is
 * no longer in progress in the other campaign, or when that campaign is no longer active.
 * @returns the leads that may start
 */
export async function holdWhereElsewhere<L extends { id: string; contact_id: string }>(
  tx: Tx,
  campaign: CampaignView,
  { campaign_overlap: overlap }: OutreachSettings,
  leads: readonly L[],
): Promise<readonly L[]> {
  if (overlap.mode !== 'hold' || leads.length === 0) return leads;
  // Allows only one launcher of a workspace at a time, so that the second of two launches of one contact sees the
  // first.
  await tx.org.lock(`campaign-overlap/${tx.org.organizationId}`);
  const held = await tx.org.sql<{ id: string }>(
    `with elsewhere as (
       select distinct on (l.id) l.id, c.name
       from unnest(cast(:ids as uuid[]), cast(:contacts as uuid[])) as l(id, contact_id)
       join enrollments o on o.organization_id = :org and o.contact_id = l.contact_id and o.campaign_id <> :campaign and o.state = 'active'
       join campaigns c on c.organization_id = :org and c.id = o.campaign_id and c.status = 'active'
       order by l.id, o.launched_at
     )
     update enrollments e set hold_since = case when e.hold_source = 'other_campaign' then e.hold_since else :now end,
       hold_until = :until, launch_after = :until, hold_source = 'other_campaign',
       hold_reason = jsonb_build_object('code', 'leads.under_way_elsewhere', 'values', jsonb_build_object('campaign', elsewhere.name))
     -- A person who ended the hold has let the lead start in both.
     from elsewhere where e.organization_id = :org and e.id = elsewhere.id
       and (e.hold_source is distinct from 'other_campaign' or e.hold_since is not null)
     returning e.id`,
    {
      campaign: campaign.id,
      ids: leads.map(({ id }) => id),
      contacts: leads.map(({ contact_id: contact }) => contact),
      now: tx.now,
      until: new Date(tx.now.getTime() + HELD_MS),
    },
  );
  const ids = new Set(held.map(({ id }) => id));
  return leads.filter(({ id }) => !ids.has(id));
}
