/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface ApiKeyUsageLogsRow {
  id: string;
  organization_id: string;
  api_key_id: string;
  /** Route template, such as /v1/contacts/:id. */
  endpoint: string;
  method: string;
  ip_address: string;
  user_agent: string;
  response_code: number;
  response_time_ms: number;
  created_at: Date;
}

export interface ApiKeyUsageLogsInsert {
  id: string;
  organization_id: string;
  api_key_id: string;
  endpoint: string;
  method: string;
  ip_address: string;
  user_agent: string;
  response_code: number;
  response_time_ms: number;
  created_at: Date;
}
