/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject, StoredConversation } from '../json-columns.ts';

export interface EnrollmentsRow {
  id: string;
  organization_id: string;
  campaign_id: string;
  contact_id: string;
  state: 'pending' | 'active' | 'completed' | 'replied' | 'bounced' | 'failed' | 'unsubscribed' | 'undeliverable';
  current_step_id: string | null;
  step_started_at: Date | null;
  waiting_for: string | null;
  waiting_until: Date | null;
  blocked: boolean;
  failure_reason: string | null;
  mailbox_id: string | null;
  app_values: JsonObject;
  conversation: StoredConversation;
  hold_since: Date | null;
  hold_until: Date | null;
  hold_reason: string | null;
  hold_source: 'manual' | 'out_of_office' | null;
  signalled_epoch: number;
  entered_at: Date;
  launched_at: Date | null;
  last_activity_at: Date | null;
  finished_at: Date | null;
  launch_after: Date;
  source: string | null;
  segment_id: string | null;
  order_key: string | null;
}

export interface EnrollmentsInsert {
  id: string;
  organization_id: string;
  campaign_id: string;
  contact_id: string;
  state?: 'pending' | 'active' | 'completed' | 'replied' | 'bounced' | 'failed' | 'unsubscribed' | 'undeliverable';
  current_step_id?: string | null;
  step_started_at?: Date | null;
  waiting_for?: string | null;
  waiting_until?: Date | null;
  blocked?: boolean;
  failure_reason?: string | null;
  mailbox_id?: string | null;
  app_values?: string;
  conversation?: string;
  hold_since?: Date | null;
  hold_until?: Date | null;
  hold_reason?: string | null;
  hold_source?: 'manual' | 'out_of_office' | null;
  signalled_epoch?: number;
  entered_at: Date;
  launched_at?: Date | null;
  last_activity_at?: Date | null;
  finished_at?: Date | null;
  launch_after?: Date;
  source?: string | null;
  segment_id?: string | null;
  order_key?: string | null;
}
