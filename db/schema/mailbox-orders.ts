/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { OrderedDomain, OrderLine, StoredIssue } from '../json-columns.ts';

export interface MailboxOrdersRow {
  id: string;
  organization_id: string;
  quote_id: string;
  state: 'awaiting_payment' | 'paid' | 'queued' | 'provisioning' | 'configuring' | 'ready' | 'failed' | 'cancelled';
  provider: string;
  count: number;
  domains: OrderedDomain[];
  warmup: boolean;
  currency: string;
  total_monthly_cents: number;
  total_due_today_cents: number;
  line_items: OrderLine[];
  payment_id: string | null;
  /** Until when it waits for the payment. */
  pay_by: Date;
  error: StoredIssue | null;
  under_way: boolean;
  blocked_reason: string | null;
  actor_kind: 'session' | 'api_key' | 'oauth' | 'system';
  user_id: string | null;
  api_key_id: string | null;
  oauth_grant_id: string | null;
  created_at: Date;
  updated_at: Date;
  paid_at: Date | null;
  ready_at: Date | null;
  failed_at: Date | null;
  cancelled_at: Date | null;
}

export interface MailboxOrdersInsert {
  id: string;
  organization_id: string;
  quote_id: string;
  state: 'awaiting_payment' | 'paid' | 'queued' | 'provisioning' | 'configuring' | 'ready' | 'failed' | 'cancelled';
  provider: string;
  count: number;
  domains: string;
  warmup: boolean;
  currency: string;
  total_monthly_cents: number;
  total_due_today_cents: number;
  line_items: string;
  payment_id?: string | null;
  pay_by: Date;
  error?: string | null;
  under_way?: boolean;
  blocked_reason?: string | null;
  actor_kind: 'session' | 'api_key' | 'oauth' | 'system';
  user_id?: string | null;
  api_key_id?: string | null;
  oauth_grant_id?: string | null;
  created_at: Date;
  updated_at: Date;
  paid_at?: Date | null;
  ready_at?: Date | null;
  failed_at?: Date | null;
  cancelled_at?: Date | null;
}
