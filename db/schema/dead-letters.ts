/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject } from '../json-columns.ts';

export interface DeadLettersRow {
  id: string;
  organization_id: string;
  task_id: string;
  task_type: string;
  payload: JsonObject;
  last_error: string;
  attempts: number;
  max_attempts: number;
  status: 'pending' | 'replayed';
  next_retry_at: Date | null;
  replayed_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

export interface DeadLettersInsert {
  id: string;
  organization_id: string;
  task_id: string;
  task_type: string;
  payload?: string;
  last_error?: string;
  attempts?: number;
  max_attempts?: number;
  status?: 'pending' | 'replayed';
  next_retry_at?: Date | null;
  replayed_at?: Date | null;
  created_at: Date;
  updated_at: Date;
}
