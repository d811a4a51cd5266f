/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { StoredActor } from '../json-columns.ts';

export interface IntegrationOauthStatesRow {
  id: string;
  organization_id: string;
  provider: string;
  state_hash: string;
  session_id: string;
  connection_id: string | null;
  label: string;
  /** PKCE verifier, sealed under `integration_oauth_states/<id>`. */
  sealed: Buffer;
  actor: StoredActor;
  created_at: Date;
  expires_at: Date;
  used_at: Date | null;
}

export interface IntegrationOauthStatesInsert {
  id: string;
  organization_id: string;
  provider: string;
  state_hash: string;
  session_id: string;
  connection_id?: string | null;
  label: string;
  sealed: Buffer;
  actor: string;
  created_at: Date;
  expires_at: Date;
  used_at?: Date | null;
}
