/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject } from '../json-columns.ts';

export interface IntegrationDeliveriesRow {
  id: string;
  organization_id: string;
  connection_id: string;
  /** The contact, or the connection where it is about none. */
  lane_id: string;
  position: number;
  contact_id: string | null;
  subscription_id: string | null;
  action: string;
  config: JsonObject;
  trigger_event: string | null;
  data: JsonObject;
  occurred_at: Date;
  source: Record<string, string> | null;
  state: 'pending' | 'failed';
  attempts: number;
  last_error: string | null;
  created_at: Date;
  failed_at: Date | null;
}

export interface IntegrationDeliveriesInsert {
  id: string;
  organization_id: string;
  connection_id: string;
  lane_id: string;
  contact_id?: string | null;
  subscription_id?: string | null;
  action: string;
  config: string;
  trigger_event?: string | null;
  data: string;
  occurred_at: Date;
  source?: string | null;
  state: 'pending' | 'failed';
  attempts?: number;
  last_error?: string | null;
  created_at: Date;
  failed_at?: Date | null;
}
