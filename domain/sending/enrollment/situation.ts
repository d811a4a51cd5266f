import type { Tx } from '../../platform/kernel/transact.ts';
import type { CampaignView } from '../campaign/campaign-view.ts';
import { settingsInForce, type OutreachSettings, type SettingsLayers } from '../campaign/outreach-settings.ts';

/** Facts about a campaign for the decisions of one launcher iteration, except its leads. */
export interface Situation {
  /** True if some workflows are overdue. */
  overdue: boolean;
  /** True if there are leads whose own launch time (`launch_after`) has passed. */
  called: boolean;
  /** Number of first emails in progress. `nextSlot` is the earliest slot among them. */
  firstEmails: number;
  nextSlot: Date | null;
  /** Returns the effective settings of the campaign. */
  settings(): OutreachSettings;
}

/**
 * Reads the campaign's pending work, except the leads to launch. The campaign is locked. Most iterations find none, so
 * one statement checks all kinds, and details are read only if needed.
 * @param overdueMs time (ms) after which a waiting workflow is overdue
 */
export async function readSituation(tx: Tx, campaign: CampaignView, overdueMs: number): Promise<Situation> {
  const [row] = await tx.org.sql<Omit<Situation, 'settings'> & SettingsLayers>(
    `select
       (select id from enrollments where organization_id = :org and campaign_id = :campaign and state = 'active' and waiting_until < :late and not blocked
        order by waiting_until limit 1) is not null as overdue,
       (select id from enrollments where organization_id = :org and campaign_id = :campaign and state = 'pending' and launch_after > 'epoch' and launch_after <= :now
        order by launch_after limit 1) is not null as called,
       flight.count as "firstEmails", flight.next as "nextSlot",
       (select settings from outreach_settings where organization_id = :org) as workspace,
       (select overrides from campaign_advanced where campaign_id = :campaign) as overrides,
       (select unsubscribe_mode from campaigns where organization_id = :org and id = :campaign) as mode
     from (select count(*)::int as count, min(slot_at) as next from sends
       where organization_id = :org and campaign_id = :campaign and state in ('reserved', 'sending') and is_first) flight`,
    {
      campaign: campaign.id,
      now: tx.now,
      late: new Date(tx.now.getTime() - overdueMs),
    },
  );
  return { ...row!, settings: () => settingsInForce(row!) };
}
