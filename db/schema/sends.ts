/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { StoredConversation, JsonObject } from '../json-columns.ts';

export interface SendsRow {
  id: string;
  organization_id: string;
  campaign_id: string | null;
  enrollment_id: string | null;
  step_id: string | null;
  step_run_id: string | null;
  contact_id: string | null;
  mailbox_id: string | null;
  variant_id: string | null;
  state: 'reserved' | 'sending' | 'sent' | 'uncertain' | 'bounced' | 'failed' | 'skipped';
  recipient: string;
  message_id: string | null;
  subject: string;
  conversation: StoredConversation | null;
  slot_at: Date;
  slot_day: string;
  is_first: boolean;
  attempts: number;
  claim_token: string | null;
  claimed_at: Date | null;
  sent_at: Date | null;
  smtp_response: string | null;
  error_code: string | null;
  error_detail: string | null;
  opened_at: Date | null;
  machine_opened_at: Date | null;
  clicked_at: Date | null;
  machine_clicked_at: Date | null;
  replied_at: Date | null;
  bounced_at: Date | null;
  complained_at: Date | null;
  unsubscribed_at: Date | null;
  created_at: Date;
  updated_at: Date;
  handover: string | null;
  again: boolean;
  assigned_id: string | null;
  dimensions: JsonObject | null;
}

export interface SendsInsert {
  id: string;
  organization_id: string;
  campaign_id?: string | null;
  enrollment_id?: string | null;
  step_id?: string | null;
  step_run_id?: string | null;
  contact_id?: string | null;
  mailbox_id?: string | null;
  variant_id?: string | null;
  state: 'reserved' | 'sending' | 'sent' | 'uncertain' | 'bounced' | 'failed' | 'skipped';
  recipient: string;
  message_id?: string | null;
  subject?: string;
  conversation?: string | null;
  slot_at: Date;
  slot_day: string;
  is_first?: boolean;
  attempts?: number;
  claim_token?: string | null;
  claimed_at?: Date | null;
  sent_at?: Date | null;
  smtp_response?: string | null;
  error_code?: string | null;
  error_detail?: string | null;
  opened_at?: Date | null;
  machine_opened_at?: Date | null;
  clicked_at?: Date | null;
  machine_clicked_at?: Date | null;
  replied_at?: Date | null;
  bounced_at?: Date | null;
  complained_at?: Date | null;
  unsubscribed_at?: Date | null;
  created_at: Date;
  updated_at: Date;
  handover?: string | null;
  again?: boolean;
  assigned_id?: string | null;
  dimensions?: string | null;
}
