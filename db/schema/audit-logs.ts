/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject } from '../json-columns.ts';

export interface AuditLogsRow {
  id: string;
  organization_id: string;
  user_id: string | null;
  actor_kind: string;
  api_key_id: string | null;
  action: string;
  entity_type: string;
  entity_id: string | null;
  ip_address: string;
  user_agent: string;
  changes: JsonObject | null;
  metadata: JsonObject | null;
  request_id: string | null;
  created_at: Date;
  oauth_grant_id: string | null;
}

export interface AuditLogsInsert {
  id: string;
  organization_id: string;
  user_id?: string | null;
  actor_kind: string;
  api_key_id?: string | null;
  action: string;
  entity_type: string;
  entity_id?: string | null;
  ip_address?: string;
  user_agent?: string;
  changes?: string | null;
  metadata?: string | null;
  request_id?: string | null;
  created_at: Date;
  oauth_grant_id?: string | null;
}
