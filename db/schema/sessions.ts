/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface SessionsRow {
  id: string;
  user_id: string;
  organization_id: string | null;
  refresh_hash: string;
  previous_refresh_hash: string | null;
  device_hash: string | null;
  ip_address: string;
  user_agent: string;
  created_at: Date;
  last_active_at: Date;
  expires_at: Date;
  revoked_at: Date | null;
}

export interface SessionsInsert {
  id: string;
  user_id: string;
  organization_id?: string | null;
  refresh_hash: string;
  previous_refresh_hash?: string | null;
  device_hash?: string | null;
  ip_address?: string;
  user_agent?: string;
  created_at: Date;
  last_active_at: Date;
  expires_at: Date;
  revoked_at?: Date | null;
}
