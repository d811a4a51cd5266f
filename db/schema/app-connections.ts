/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface AppConnectionsRow {
  id: string;
  organization_id: string;
  name: string;
  /** Without query, fragment and trailing slash. */
  base_url: string;
  /** Sealed under `app_connections/<id>`. */
  secret: Buffer;
  created_at: Date;
  updated_at: Date;
}

export interface AppConnectionsInsert {
  id: string;
  organization_id: string;
  name: string;
  base_url: string;
  secret: Buffer;
  created_at: Date;
  updated_at: Date;
}
