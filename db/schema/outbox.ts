/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject } from '../json-columns.ts';

export interface OutboxRow {
  id: number;
  kind: 'start' | 'signal' | 'cancel';
  workflow_id: string;
  payload: JsonObject;
  attempts: number;
  available_at: Date;
  last_error: string | null;
  created_at: Date;
  refusals: number;
  parked_at: Date | null;
}

export interface OutboxInsert {
  kind: 'start' | 'signal' | 'cancel';
  workflow_id: string;
  payload: string;
  attempts?: number;
  available_at?: Date;
  last_error?: string | null;
  created_at?: Date;
  refusals?: number;
  parked_at?: Date | null;
}
