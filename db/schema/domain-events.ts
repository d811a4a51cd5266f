/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject } from '../json-columns.ts';

export interface DomainEventsRow {
  id: string;
  organization_id: string;
  type: string;
  data: JsonObject;
  created_at: Date;
  position: number | null;
  hops: number | null;
}

export interface DomainEventsInsert {
  id: string;
  organization_id: string;
  type: string;
  data: string;
  created_at: Date;
  position?: number | null;
  hops?: number | null;
}
