/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { PaymentLine, StoredIssue } from '../json-columns.ts';

export interface PaymentsRow {
  id: string;
  organization_id: string;
  subject: 'order' | 'renewal' | 'order_month';
  subject_id: string;
  state: 'open' | 'paid' | 'expired' | 'failed' | 'refund_due' | 'refunded' | 'needs_person';
  /** The sum of its lines: what is due now. */
  amount_cents: number;
  /** ISO 4217, lower-case. */
  currency: string;
  line_items: PaymentLine[];
  return_url: string | null;
  provider_session_id: string | null;
  checkout_url: string | null;
  provider_customer_id: string | null;
  provider_payment_id: string | null;
  provider_invoice_id: string | null;
  provider_subscription_id: string | null;
  received_cents: number | null;
  received_currency: string | null;
  paid_at: Date | null;
  refund_reason: string | null;
  refund_due_at: Date | null;
  refund_until: Date | null;
  refund_attempts: number;
  refund_round: number;
  provider_refund_id: string | null;
  refunded_at: Date | null;
  /** Why it failed or needs a person. */
  error: StoredIssue | null;
  blocked_reason: string | null;
  created_at: Date;
  updated_at: Date;
  period_end: Date | null;
  subscription_ended_at: Date | null;
}

export interface PaymentsInsert {
  id: string;
  organization_id: string;
  subject: 'order' | 'renewal' | 'order_month';
  subject_id: string;
  state?: 'open' | 'paid' | 'expired' | 'failed' | 'refund_due' | 'refunded' | 'needs_person';
  amount_cents: number;
  currency: string;
  line_items: string;
  return_url?: string | null;
  provider_session_id?: string | null;
  checkout_url?: string | null;
  provider_customer_id?: string | null;
  provider_payment_id?: string | null;
  provider_invoice_id?: string | null;
  provider_subscription_id?: string | null;
  received_cents?: number | null;
  received_currency?: string | null;
  paid_at?: Date | null;
  refund_reason?: string | null;
  refund_due_at?: Date | null;
  refund_until?: Date | null;
  refund_attempts?: number;
  refund_round?: number;
  provider_refund_id?: string | null;
  refunded_at?: Date | null;
  error?: string | null;
  blocked_reason?: string | null;
  created_at: Date;
  updated_at: Date;
  period_end?: Date | null;
  subscription_ended_at?: Date | null;
}
