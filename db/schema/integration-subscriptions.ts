/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject } from '../json-columns.ts';

export interface IntegrationSubscriptionsRow {
  id: string;
  organization_id: string;
  connection_id: string;
  event_type: string;
  action: string;
  config: JsonObject;
  enabled: boolean;
  use_case: 'crm_sync' | 'notify' | 'custom';
  automation_id: string | null;
  created_at: Date;
  updated_at: Date;
}

export interface IntegrationSubscriptionsInsert {
  id: string;
  organization_id: string;
  connection_id: string;
  event_type: string;
  action: string;
  config: string;
  enabled?: boolean;
  use_case: 'crm_sync' | 'notify' | 'custom';
  automation_id?: string | null;
  created_at: Date;
  updated_at: Date;
}
