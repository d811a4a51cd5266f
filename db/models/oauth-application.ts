import { orgEntity, OrgModel } from './model.ts';

/** An application that may ask people for access (contract 1, "OAuth application"). Its secret is stored as a hash. */
export class OAuthApplicationRow extends OrgModel {
  static override tableName = 'oauth_applications';
  static override jsonAttributes: string[] = [];

  created_by!: string | null;
  client_id!: string;
  /** SHA-256 of the secret; null for public clients. */
  client_secret_hash!: string | null;
  /** Registered by itself (RFC 7591); such a row has no organization and is never reached through one. */
  self_registered!: boolean;
  name!: string;
  description!: string;
  logo_url!: string;
  website_url!: string;
  redirect_uris!: string[];
  /** Mask of lib/permissions.ts: the most a token of it can carry. */
  scopes!: number;
  allowed_webhook_domains!: string[];
  /** Empty: no app-level delivery. */
  webhook_url!: string;
  webhook_events!: string[];
}

export const OAuthApplications = orgEntity(OAuthApplicationRow);
