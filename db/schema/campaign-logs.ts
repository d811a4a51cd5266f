/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject } from '../json-columns.ts';

export interface CampaignLogsRow {
  id: string;
  organization_id: string;
  campaign_id: string;
  event_type: string;
  message: string;
  metadata: JsonObject;
  created_at: Date;
}

export interface CampaignLogsInsert {
  id: string;
  organization_id: string;
  campaign_id: string;
  event_type: string;
  message?: string;
  metadata?: string;
  created_at: Date;
}
