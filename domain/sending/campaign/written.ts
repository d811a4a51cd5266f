import type { Columns } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';

/** Columns of a step that content checks need, with the total size (bytes) of the files attached to its emails. */
export type WrittenStep = { files_bytes: number } & Columns<
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

/** Columns of a variant in use. */
export type WrittenVariant = Columns<
  'campaign_variants',
  'id' | 'step_id' | 'name' | 'subject' | 'body_plain' | 'body_html' | 'weight' | 'promoted_at'
>;

/** Content of a campaign: its steps in order, and the variants in use. */
export interface Written {
  steps: WrittenStep[];
  variants: WrittenVariant[];
}

/** Reads a campaign's content once, for all checks of it. */
export async function readWritten(org: OrgScope, campaignId: string): Promise<Written> {
  const [steps, variants] = await Promise.all([
    org.sql<WrittenStep>(
      `select id, position, kind, name, subject, body_plain, body_html, thread_reply, conditions, action,
         (select coalesce(sum(f.size_bytes), 0)::int from campaign_attachments f
           where f.campaign_id = s.campaign_id and (f.step_id is null or f.step_id = s.id)) as files_bytes
       from campaign_steps s where organization_id = :org and campaign_id = :campaign order by position`,
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
