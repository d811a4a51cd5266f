/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface ApiKeyUsageMinutesRow {
  organization_id: string;
  api_key_id: string;
  minute: Date;
  endpoint: string;
  method: string;
  count: number;
  success: number;
  client_errors: number;
  server_errors: number;
  latency_ms: number;
  last_at: Date;
}

export interface ApiKeyUsageMinutesInsert {
  organization_id: string;
  api_key_id: string;
  minute: Date;
  endpoint: string;
  method: string;
  count: number;
  success: number;
  client_errors: number;
  server_errors: number;
  latency_ms: number;
  last_at: Date;
}
