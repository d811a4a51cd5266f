/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject } from '../json-columns.ts';

export interface OutreachSettingsRow {
  organization_id: string;
  settings: JsonObject;
  updated_at: Date;
}

export interface OutreachSettingsInsert {
  organization_id: string;
  settings?: string;
  updated_at: Date;
}
