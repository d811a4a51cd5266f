/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject } from '../json-columns.ts';

export interface CrmActivitiesRow {
  id: string;
  organization_id: string;
  contact_id: string | null;
  deal_id: string | null;
  task_id: string | null;
  user_id: string | null;
  activity_type: string;
  metadata: JsonObject;
  created_at: Date;
}

export interface CrmActivitiesInsert {
  id: string;
  organization_id: string;
  contact_id?: string | null;
  deal_id?: string | null;
  task_id?: string | null;
  user_id?: string | null;
  activity_type: string;
  metadata: string;
  created_at: Date;
}
