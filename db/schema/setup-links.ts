/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface SetupLinksRow {
  id: string;
  token_hash: string;
  created_at: Date;
  expires_at: Date;
  used_at: Date | null;
}

export interface SetupLinksInsert {
  id: string;
  token_hash: string;
  created_at: Date;
  expires_at: Date;
  used_at?: Date | null;
}
