/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface OauthTokensRow {
  id: string;
  grant_id: string;
  family_id: string;
  kind: 'access' | 'refresh';
  token_hash: string;
  scopes: number;
  resource: string | null;
  created_at: Date;
  expires_at: Date;
  replaced_at: Date | null;
  revoked_at: Date | null;
}

export interface OauthTokensInsert {
  id: string;
  grant_id: string;
  family_id: string;
  kind: 'access' | 'refresh';
  token_hash: string;
  scopes: number;
  resource?: string | null;
  created_at: Date;
  expires_at: Date;
  replaced_at?: Date | null;
  revoked_at?: Date | null;
}
