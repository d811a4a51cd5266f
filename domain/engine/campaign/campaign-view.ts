import { LRUCache } from 'lru-cache';
import type { OutreachSettings } from '../../records/outreach-settings.ts';
import type { Schedule } from '../../records/schedule/windows.ts';

/** The columns of a campaign the engine decides by. */
export interface CampaignView {
  id: string;
  name: string;
  status: string;
  stop_on_reply: boolean;
  daily_limit: number;
  risky_emails: boolean;
  timezone: string;
  days: number;
  start_time: string;
  end_time: string;
  schedule_windows: { start: number; end: number }[][];
  start_date: Date | null;
  end_date: Date | null;
  email_tags: string[];
  sender_strategy: 'tags' | 'explicit';
  rotation_mode: string;
  ramp_enabled: boolean;
  ramp_start: number;
  ramp_increment: number;
  ramp_ceiling: number;
  ramp_level: number;
  ramp_day: string | null;
  esp_match_mode: 'off' | 'prefer' | 'strict';
  max_new_leads_per_day: number;
  prioritize_new_leads: boolean;
  entry_delay_minutes: number;
  continuous: boolean;
  /** Why the launcher stands still; null while it works. */
  blocked_reason: string | null;
  control_epoch: number;
  launch_epoch: number;
  graph_version: number;
  contact_order_by: string;
  contact_order_dir: string;
  contact_order_field: string | null;
  idle_since: Date | null;
  created_at: Date;
}

export interface CampaignInEffect {
  campaign: CampaignView;
  settings: OutreachSettings;
}

const MAX_SCHEDULES = 2_000;
const schedules = new LRUCache<string, Schedule>({ max: MAX_SCHEDULES });

/**
 * A campaign's sending schedule. The same settings give the same object, because what is worked out of a schedule is
 * kept with it.
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
