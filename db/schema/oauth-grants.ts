/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface OauthGrantsRow {
  id: string;
  organization_id: string;
  application_id: string;
  user_id: string;
  scopes: number;
  last_used_at: Date | null;
  last_request_ip: string | null;
  revoked_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

export interface OauthGrantsInsert {
  id: string;
  organization_id: string;
  application_id: string;
  user_id: string;
  scopes: number;
  last_used_at?: Date | null;
  last_request_ip?: string | null;
  revoked_at?: Date | null;
  created_at: Date;
  updated_at: Date;
}
