import { LRUCache } from 'lru-cache';
import type { Columns } from '../../../db/rows.ts';
import type { OutreachSettings } from './outreach-settings.ts';
import type { Schedule } from '../../platform/scheduling/windows.ts';

const COLUMNS = [
  'id',
  'name',
  'status',
  'stop_on_reply',
  'daily_limit',
  'risky_emails',
  'timezone',
  'days',
  'start_time',
  'end_time',
  'schedule_windows',
  'start_date',
  'end_date',
  'email_tags',
  'sender_strategy',
  'rotation_mode',
  'ramp_enabled',
  'ramp_start',
  'ramp_increment',
  'ramp_ceiling',
  'ramp_level',
  'ramp_day',
  'esp_match_mode',
  'max_new_leads_per_day',
  'prioritize_new_leads',
  'entry_delay_minutes',
  'continuous',
  'blocked_reason',
  'control_epoch',
  'rechecks',
  'launch_epoch',
  'graph_version',
  'contact_order_by',
  'contact_order_dir',
  'contact_order_field',
  'leads_ordered_from',
  'idle_since',
  'created_at',
  'started_at',
] as const;

/** The columns of a campaign that the sending engine needs. */
export type CampaignView = Columns<'campaigns', (typeof COLUMNS)[number]>;

/** The columns of `CampaignView` as an SQL list. */
export const CAMPAIGN_COLUMNS = COLUMNS.join(', ');

export interface CampaignInEffect {
  campaign: CampaignView;
  settings: OutreachSettings;
}

const MAX_SCHEDULES = 2_000;
const schedules = new LRUCache<string, Schedule>({ max: MAX_SCHEDULES });

/**
 * Returns a campaign's sending schedule. Equal settings give the same object, because compiled schedules are cached per
 * object.
 */
export function scheduleOf(campaign: CampaignView): Schedule {
  const fields = [
    campaign.timezone,
    campaign.days,
    campaign.start_time,
    campaign.end_time,
    campaign.schedule_windows,
    campaign.start_date?.getTime() ?? null,
    campaign.end_date?.getTime() ?? null,
  ];
  const key = JSON.stringify(fields);
  let schedule = schedules.get(key);
  if (!schedule) {
    schedule = {
      timezone: campaign.timezone,
      days: campaign.days,
      startTime: campaign.start_time || null,
      endTime: campaign.end_time || null,
      windows: campaign.schedule_windows.length > 0 ? campaign.schedule_windows : null,
      startDate: campaign.start_date,
      endDate: campaign.end_date,
    };
    schedules.set(key, schedule);
  }
  return schedule;
}
