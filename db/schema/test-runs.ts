/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject, StoredConversation, StoredIssue } from '../json-columns.ts';

export interface TestRunsRow {
  id: string;
  organization_id: string;
  campaign_id: string;
  contact_id: string;
  mailbox_id: string | null;
  prospect_email: string;
  state: 'running' | 'waiting_for_event' | 'completed' | 'failed' | 'cancelled';
  current_step_id: string | null;
  app_values: JsonObject;
  conversation: StoredConversation;
  max_wait_seconds: number | null;
  ends_at: Date;
  waiting_for: string | null;
  waiting_until: Date | null;
  blocked_reason: string | null;
  error: StoredIssue | null;
  created_at: Date;
  updated_at: Date;
  completed_at: Date | null;
}

export interface TestRunsInsert {
  id: string;
  organization_id: string;
  campaign_id: string;
  contact_id: string;
  mailbox_id?: string | null;
  prospect_email: string;
  state: 'running' | 'waiting_for_event' | 'completed' | 'failed' | 'cancelled';
  current_step_id?: string | null;
  app_values?: string;
  conversation?: string;
  max_wait_seconds?: number | null;
  ends_at: Date;
  waiting_for?: string | null;
  waiting_until?: Date | null;
  blocked_reason?: string | null;
  error?: string | null;
  created_at: Date;
  updated_at: Date;
  completed_at?: Date | null;
}
