import type { z } from 'zod';
import type { OAuthApplicationRow } from '../../../domain/identity/oauth/applications.ts';
import type { Client } from '../../../domain/identity/oauth/clients.ts';
import { scopesOf, scopeText } from '../../../domain/identity/scopes.ts';
import { iso } from '../../http/schemas.ts';
import type { application, registered } from './schemas.ts';

/** Returns an application of the workspace. Its secret is not stored; only creation and rotation return it. */
export function presentApplication(row: OAuthApplicationRow): z.input<typeof application> {
  return {
    id: row.id,
    // Only self-registered clients have no organization, and no organization lists them.
    organization_id: row.organization_id!,
    client_id: row.client_id,
    name: row.name,
    description: row.description,
    logo_url: row.logo_url,
    website_url: row.website_url,
    redirect_uris: row.redirect_uris,
    scopes: scopesOf(row.scopes),
    allowed_webhook_domains: row.allowed_webhook_domains,
    webhook_url: row.webhook_url,
    webhook_events: row.webhook_events,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

/** Returns a self-registered client in the format of RFC 7591. */
export function presentRegistered(client: Client & { created_at: Date }): z.input<typeof registered> {
  return {
    client_id: client.client_id,
    client_id_issued_at: Math.floor(client.created_at.getTime() / 1000),
    client_name: client.name,
    redirect_uris: client.redirect_uris,
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    scope: scopeText(client.scopes),
    ...(client.website_url ? { client_uri: client.website_url } : {}),
    ...(client.logo_url ? { logo_uri: client.logo_url } : {}),
  };
}
