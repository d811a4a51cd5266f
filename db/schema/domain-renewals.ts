/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { StoredIssue } from '../json-columns.ts';

export interface DomainRenewalsRow {
  id: string;
  organization_id: string;
  domain_id: string;
  state: 'scheduled' | 'charging' | 'renewing' | 'renewed' | 'requires_action' | 'ended';
  expires_at: Date;
  renew_at: Date;
  /** The provider's price when the cycle was charged. */
  cost_cents: number | null;
  /** Added to the price for the processing of the payment. */
  processing_cents: number | null;
  amount_cents: number | null;
  currency: string | null;
  payment_id: string | null;
  renewed_at: Date | null;
  /** Why a person is needed. */
  error: StoredIssue | null;
  blocked_reason: string | null;
  created_at: Date;
  updated_at: Date;
}

export interface DomainRenewalsInsert {
  id: string;
  organization_id: string;
  domain_id: string;
  state?: 'scheduled' | 'charging' | 'renewing' | 'renewed' | 'requires_action' | 'ended';
  expires_at: Date;
  renew_at: Date;
  cost_cents?: number | null;
  processing_cents?: number | null;
  amount_cents?: number | null;
  currency?: string | null;
  payment_id?: string | null;
  renewed_at?: Date | null;
  error?: string | null;
  blocked_reason?: string | null;
  created_at: Date;
  updated_at: Date;
}
