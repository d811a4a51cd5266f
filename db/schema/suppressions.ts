/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject } from '../json-columns.ts';

export interface SuppressionsRow {
  id: string;
  organization_id: string;
  /** Lower-case; the bare host when `kind` is domain. */
  email: string;
  kind: 'email' | 'domain';
  reason: string;
  source: 'bounce' | 'complaint' | 'unsubscribe' | 'manual' | 'import';
  campaign_id: string | null;
  metadata: JsonObject;
  expires_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

export interface SuppressionsInsert {
  id: string;
  organization_id: string;
  email: string;
  kind: 'email' | 'domain';
  reason?: string;
  source: 'bounce' | 'complaint' | 'unsubscribe' | 'manual' | 'import';
  campaign_id?: string | null;
  metadata?: string;
  expires_at?: Date | null;
  created_at: Date;
  updated_at: Date;
}
