/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject } from '../json-columns.ts';

export interface CampaignAdvancedRow {
  campaign_id: string;
  organization_id: string;
  overrides: JsonObject;
  updated_at: Date;
}

export interface CampaignAdvancedInsert {
  campaign_id: string;
  organization_id: string;
  overrides?: string;
  updated_at: Date;
}
