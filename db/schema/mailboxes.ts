/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { StoredMailService } from '../json-columns.ts';

export interface MailboxesRow {
  id: string;
  organization_id: string;
  user_id: string | null;
  /** Lower-case. */
  email: string;
  name: string;
  provider: 'gmail' | 'outlook' | 'smtp_imap';
  status: 'active' | 'inactive' | 'revoked';
  smtp: StoredMailService;
  imap: StoredMailService | null;
  /** Both passwords, sealed under `mailboxes/<id>`. */
  credentials: Buffer;
  /** Rises with every change of servers or passwords; open connections below it are stale. */
  credentials_version: number;
  /** Campaign emails per UTC day. */
  campaign_limit: number;
  /** Seconds between two emails. */
  min_wait_time: number;
  reply_to: string;
  save_to_sent: boolean;
  send_as_email: string;
  signature_plain: string;
  signature_html: string;
  signature_sync: boolean;
  signature_code: boolean;
  timezone: string;
  tracking_domain: string;
  tracking_domain_verified: boolean;
  tracking_domain_verified_at: Date | null;
  warmup: Date | null;
  warmup_paused_at: Date | null;
  warmup_base: number;
  warmup_max: number;
  warmup_increase: number;
  warmup_reply_rate: number;
  warmup_tag: string;
  warmup_pool_type: string;
  warmup_start_time: string;
  warmup_end_time: string;
  warmup_days: number;
  hold_code: string | null;
  hold_reason: string | null;
  hold_until: Date | null;
  last_slot_at: Date | null;
  created_at: Date;
  updated_at: Date;
  next_free_at: Date;
  imap_hold_code: string | null;
  imap_hold_reason: string | null;
  imap_hold_until: Date | null;
  spent_days: string[];
}

export interface MailboxesInsert {
  id: string;
  organization_id: string;
  user_id?: string | null;
  email: string;
  name?: string;
  provider?: 'gmail' | 'outlook' | 'smtp_imap';
  status?: 'active' | 'inactive' | 'revoked';
  smtp: string;
  imap?: string | null;
  credentials: Buffer;
  credentials_version?: number;
  campaign_limit?: number;
  min_wait_time?: number;
  reply_to?: string;
  save_to_sent?: boolean;
  send_as_email?: string;
  signature_plain?: string;
  signature_html?: string;
  signature_sync?: boolean;
  signature_code?: boolean;
  timezone?: string;
  tracking_domain?: string;
  tracking_domain_verified?: boolean;
  tracking_domain_verified_at?: Date | null;
  warmup?: Date | null;
  warmup_paused_at?: Date | null;
  warmup_base?: number;
  warmup_max?: number;
  warmup_increase?: number;
  warmup_reply_rate?: number;
  warmup_tag?: string;
  warmup_pool_type?: string;
  warmup_start_time?: string;
  warmup_end_time?: string;
  warmup_days?: number;
  hold_code?: string | null;
  hold_reason?: string | null;
  hold_until?: Date | null;
  last_slot_at?: Date | null;
  created_at: Date;
  updated_at: Date;
  next_free_at?: Date;
  imap_hold_code?: string | null;
  imap_hold_reason?: string | null;
  imap_hold_until?: Date | null;
  spent_days?: string[];
}
