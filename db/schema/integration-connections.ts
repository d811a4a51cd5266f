/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject } from '../json-columns.ts';

export interface IntegrationConnectionsRow {
  id: string;
  organization_id: string;
  provider: string;
  label: string;
  status: 'connected' | 'degraded' | 'reauth_required' | 'disconnected' | 'pending' | 'authorizing';
  auth_method: 'oauth' | 'api_key' | 'webhook';
  /** What was pasted, or the tokens; sealed under `integration_connections/<id>`. */
  sealed: Buffer;
  sealed_version: number;
  token_expires_at: Date | null;
  refreshing_until: Date | null;
  granted_scopes: string[];
  external_account_id: string;
  external_account_name: string;
  api_base: string | null;
  display_fields: Record<string, string>;
  config_capabilities: JsonObject;
  sync_direction: 'push' | 'pull' | 'both';
  connected_by: string | null;
  health: 'unknown' | 'healthy' | 'degraded' | 'down';
  health_detail: string | null;
  health_checked_at: Date | null;
  health_due_at: Date;
  last_synced_at: Date | null;
  last_error: string | null;
  last_error_at: Date | null;
  /** Sealed under `integration_connections/<id>/signing`. */
  signing_secret: Buffer | null;
  inbound_hash: string | null;
  inbound_external_id: string | null;
  blocked_reason: string | null;
  created_at: Date;
  updated_at: Date;
}

export interface IntegrationConnectionsInsert {
  id: string;
  organization_id: string;
  provider: string;
  label: string;
  status: 'connected' | 'degraded' | 'reauth_required' | 'disconnected' | 'pending' | 'authorizing';
  auth_method: 'oauth' | 'api_key' | 'webhook';
  sealed: Buffer;
  sealed_version?: number;
  token_expires_at?: Date | null;
  refreshing_until?: Date | null;
  granted_scopes?: string[];
  external_account_id: string;
  external_account_name: string;
  api_base?: string | null;
  display_fields: string;
  config_capabilities: string;
  sync_direction: 'push' | 'pull' | 'both';
  connected_by?: string | null;
  health?: 'unknown' | 'healthy' | 'degraded' | 'down';
  health_detail?: string | null;
  health_checked_at?: Date | null;
  health_due_at: Date;
  last_synced_at?: Date | null;
  last_error?: string | null;
  last_error_at?: Date | null;
  signing_secret?: Buffer | null;
  inbound_hash?: string | null;
  inbound_external_id?: string | null;
  blocked_reason?: string | null;
  created_at: Date;
  updated_at: Date;
}
