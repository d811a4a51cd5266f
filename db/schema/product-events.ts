/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject } from '../json-columns.ts';

export interface ProductEventsRow {
  id: string;
  organization_id: string;
  contact_id: string | null;
  name: string;
  data: JsonObject;
  occurred_at: Date;
  received_at: Date;
  person_id: string | null;
  named_by: string | null;
}

export interface ProductEventsInsert {
  id: string;
  organization_id: string;
  contact_id?: string | null;
  name: string;
  data?: string;
  occurred_at: Date;
  received_at: Date;
  person_id?: string | null;
  named_by?: string | null;
}
