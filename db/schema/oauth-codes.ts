/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface OauthCodesRow {
  id: string;
  code_hash: string;
  grant_id: string;
  scopes: number;
  redirect_uri: string;
  code_challenge: string | null;
  resource: string | null;
  created_at: Date;
  expires_at: Date;
  consumed_at: Date | null;
}

export interface OauthCodesInsert {
  id: string;
  code_hash: string;
  grant_id: string;
  scopes: number;
  redirect_uri: string;
  code_challenge?: string | null;
  resource?: string | null;
  created_at: Date;
  expires_at: Date;
  consumed_at?: Date | null;
}
