import { orgEntity, OrgModel } from './model.ts';

/** One request made with an API key (contract 1, "API key usage records"). */
export class ApiKeyUsageLogRow extends OrgModel {
  static override tableName = 'api_key_usage_logs';
  static override jsonAttributes: string[] = [];

  api_key_id!: string;
  /** Route template, such as /v1/contacts/:id. */
  endpoint!: string;
  method!: string;
  ip_address!: string;
  user_agent!: string;
  response_code!: number;
  response_time_ms!: number;
}

export const ApiKeyUsageLogs = orgEntity(ApiKeyUsageLogRow);
