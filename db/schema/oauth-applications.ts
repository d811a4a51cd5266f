/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface OauthApplicationsRow {
  id: string;
  /** Null for a client that registered itself (RFC 7591). */
  organization_id: string | null;
  created_by: string | null;
  client_id: string;
  /** SHA-256 of the secret; null for public clients. */
  client_secret_hash: string | null;
  self_registered: boolean;
  name: string;
  description: string;
  logo_url: string;
  website_url: string;
  redirect_uris: string[];
  /** Mask of lib/permissions.ts: the most a token of it can carry. */
  scopes: number;
  allowed_webhook_domains: string[];
  /** Empty: no app-level delivery. */
  webhook_url: string;
  webhook_events: string[];
  created_at: Date;
  updated_at: Date;
}

export interface OauthApplicationsInsert {
  id: string;
  organization_id?: string | null;
  created_by?: string | null;
  client_id: string;
  client_secret_hash?: string | null;
  self_registered?: boolean;
  name: string;
  description?: string;
  logo_url?: string;
  website_url?: string;
  redirect_uris: string[];
  scopes: number;
  allowed_webhook_domains?: string[];
  webhook_url?: string;
  webhook_events?: string[];
  created_at: Date;
  updated_at: Date;
}
