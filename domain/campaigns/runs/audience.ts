import type { OrgScope } from '../../../db/tenancy.ts';

/** Number of a campaign's recipients, and number of app calls that they can cause. */
export interface Recipients {
  /** Number of unfinished leads. */
  count: number;
  /** Maximum number of app calls that these leads can cause. */
  actions: number;
}

/** Counts the unfinished leads of a campaign and the app calls they can cause. */
export async function countRecipients(org: OrgScope, campaignId: string): Promise<Recipients> {
  const [row] = await org.sql<{ leads: number; calls: number }>(
    `select (select count(*)::int from enrollments
             where organization_id = :org and campaign_id = :id and state in ('pending', 'active')) as leads,
       (select count(*)::int from campaign_steps
        where organization_id = :org and campaign_id = :id and action ->> 'type' = 'app_action') as calls`,
    { id: campaignId },
  );
  return { count: row!.leads, actions: row!.leads * row!.calls };
}
