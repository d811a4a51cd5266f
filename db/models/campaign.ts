import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** A campaign: settings, schedule, selection of senders, and status. */
export type CampaignRow = Row<'campaigns'>;
/** Every status of a campaign. */
export const CAMPAIGN_STATUSES = [
  'draft',
  'active',
  'paused',
  'paused_no_accounts',
  'paused_trial_expired',
  'paused_undeliverable',
  'completed',
] as const satisfies CampaignStatus[];
export type CampaignStatus = CampaignRow['status'];

export const Campaigns = orgEntity('campaigns', ['schedule_windows', 'blocked_reason', 'rechecks']);
