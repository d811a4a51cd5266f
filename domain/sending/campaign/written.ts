import type { Columns } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';

/** A step, as checks of what a campaign sends look at it. */
export type WrittenStep = Columns<
  'campaign_steps',
  | 'id'
  | 'position'
  | 'kind'
  | 'name'
  | 'subject'
  | 'body_plain'
  | 'body_html'
  | 'thread_reply'
  | 'conditions'
  | 'action'
>;

/** A variant that is in use. */
export type WrittenVariant = Columns<
  'campaign_variants',
  'id' | 'step_id' | 'name' | 'subject' | 'body_plain' | 'body_html' | 'weight' | 'promoted_at'
>;

/** What is written in a campaign: its steps in their order, and the variants in use. */
export interface Written {
  steps: WrittenStep[];
  variants: WrittenVariant[];
}

/** Reads it once, for all checks that go over it. */
export async function readWritten(org: OrgScope, campaignId: string): Promise<Written> {
  const [steps, variants] = await Promise.all([
    org.sql<WrittenStep>(
      `select id, position, kind, name, subject, body_plain, body_html, thread_reply, conditions, action
       from campaign_steps where organization_id = :org and campaign_id = :campaign order by position`,
      { campaign: campaignId },
    ),
    org.sql<WrittenVariant>(
      `select id, step_id, name, subject, body_plain, body_html, weight, promoted_at
       from campaign_variants where organization_id = :org and campaign_id = :campaign and is_active order by id`,
      { campaign: campaignId },
    ),
  ]);
  return { steps, variants };
}
