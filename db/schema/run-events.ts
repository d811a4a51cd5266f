/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject } from '../json-columns.ts';

export interface RunEventsRow {
  run_id: string;
  seq: number;
  organization_id: string;
  type: string;
  state: string;
  previous_state: string | null;
  data: JsonObject;
  actor_kind: string;
  user_id: string | null;
  created_at: Date;
}

export interface RunEventsInsert {
  run_id: string;
  seq: number;
  organization_id: string;
  type: string;
  state: string;
  previous_state?: string | null;
  data?: string;
  actor_kind: string;
  user_id?: string | null;
  created_at: Date;
}
