/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { ScheduleWindow } from '../json-columns.ts';

export interface CampaignsRow {
  id: string;
  organization_id: string;
  user_id: string | null;
  name: string;
  description: string;
  status:
    | 'draft'
    | 'active'
    | 'paused'
    | 'paused_no_accounts'
    | 'paused_trial_expired'
    | 'paused_undeliverable'
    | 'completed';
  kind: 'sequence' | 'one_time';
  stop_on_reply: boolean;
  open_tracking: boolean;
  link_tracking: boolean;
  text_only: boolean;
  daily_limit: number;
  unsubscribe_header: boolean;
  unsubscribe_mode: 'inherit' | 'text' | 'link' | 'off';
  risky_emails: boolean;
  cc: string[];
  bcc: string[];
  start_date: Date | null;
  end_date: Date | null;
  timezone: string;
  days: number;
  start_time: string;
  end_time: string;
  /** Seven lists by weekday (Sunday first); empty when days, start_time and end_time decide. */
  schedule_windows: ScheduleWindow[][];
  email_tags: string[];
  folders: string[];
  contact_order_by: string;
  contact_order_dir: string;
  contact_order_field: string | null;
  sender_strategy: 'tags' | 'explicit';
  rotation_mode: string;
  ramp_enabled: boolean;
  ramp_start: number;
  ramp_increment: number;
  ramp_ceiling: number;
  ramp_level: number;
  /** Campaign-local day (YYYY-MM-DD) on which ramp_level was last raised. */
  ramp_day: string | null;
  esp_match_mode: 'off' | 'prefer' | 'strict';
  max_new_leads_per_day: number;
  prioritize_new_leads: boolean;
  entry_delay_minutes: number;
  continuous: boolean;
  idle_since: Date | null;
  tracking_domain: string;
  tracking_domain_verified: boolean;
  tracking_domain_verified_at: Date | null;
  utm_tracking: boolean;
  utm_source: string;
  utm_medium: string;
  utm_campaign: string;
  control_epoch: number;
  graph_version: number;
  had_leads: boolean;
  started_at: Date | null;
  last_status_change_at: Date | null;
  created_at: Date;
  updated_at: Date;
  blocked_reason: string | null;
  launch_epoch: number;
  variants_compared_at: Date | null;
  leads_ordered_from: string | null;
}

export interface CampaignsInsert {
  id: string;
  organization_id: string;
  user_id?: string | null;
  name: string;
  description?: string;
  status?:
    | 'draft'
    | 'active'
    | 'paused'
    | 'paused_no_accounts'
    | 'paused_trial_expired'
    | 'paused_undeliverable'
    | 'completed';
  kind?: 'sequence' | 'one_time';
  stop_on_reply?: boolean;
  open_tracking?: boolean;
  link_tracking?: boolean;
  text_only?: boolean;
  daily_limit?: number;
  unsubscribe_header?: boolean;
  unsubscribe_mode?: 'inherit' | 'text' | 'link' | 'off';
  risky_emails?: boolean;
  cc?: string[];
  bcc?: string[];
  start_date?: Date | null;
  end_date?: Date | null;
  timezone?: string;
  days?: number;
  start_time?: string;
  end_time?: string;
  schedule_windows?: string;
  email_tags?: string[];
  folders?: string[];
  contact_order_by?: string;
  contact_order_dir?: string;
  contact_order_field?: string | null;
  sender_strategy?: 'tags' | 'explicit';
  rotation_mode?: string;
  ramp_enabled?: boolean;
  ramp_start?: number;
  ramp_increment?: number;
  ramp_ceiling?: number;
  ramp_level?: number;
  ramp_day?: string | null;
  esp_match_mode?: 'off' | 'prefer' | 'strict';
  max_new_leads_per_day?: number;
  prioritize_new_leads?: boolean;
  entry_delay_minutes?: number;
  continuous?: boolean;
  idle_since?: Date | null;
  tracking_domain?: string;
  tracking_domain_verified?: boolean;
  tracking_domain_verified_at?: Date | null;
  utm_tracking?: boolean;
  utm_source?: string;
  utm_medium?: string;
  utm_campaign?: string;
  control_epoch?: number;
  graph_version?: number;
  had_leads?: boolean;
  started_at?: Date | null;
  last_status_change_at?: Date | null;
  created_at: Date;
  updated_at: Date;
  blocked_reason?: string | null;
  launch_epoch?: number;
  variants_compared_at?: Date | null;
  leads_ordered_from?: string | null;
}
