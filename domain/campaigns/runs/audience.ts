import type { OrgScope } from '../../../db/tenancy.ts';

/** Who a campaign would write to. */
export interface Recipients {
  /** Leads that have not finished. */
  count: number;
  /** Calls to apps that they can lead to at most. */
  actions: number;
}

/** Counts the leads of a campaign that have not finished, and the calls to apps they can lead to. */
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
