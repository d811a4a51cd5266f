import { ALL_PERMISSIONS } from '../../../lib/permissions.ts';
import type { Config } from '../../../lib/config/index.ts';
import { SELF_REGISTERED_MAX, scopesOf } from '../scopes.ts';
import { authorizeUrl, issuer } from './urls.ts';

type Urls = Pick<Config, 'API_PUBLIC_URL' | 'APP_URL'>;

/** Authentication methods of clients at the token and revocation endpoints. */
const CLIENT_AUTHENTICATION = ['none', 'client_secret_basic', 'client_secret_post'] as const;

/** Returns the authorization server's metadata (RFC 8414). */
export function serverMetadata(config: Urls) {
  const base = config.API_PUBLIC_URL;
  return {
    issuer: issuer(config),
    authorization_endpoint: authorizeUrl(config),
    token_endpoint: `${base}/v1/oauth/token`,
    revocation_endpoint: `${base}/v1/oauth/revoke`,
    registration_endpoint: `${base}/v1/oauth/register`,
    scopes_supported: scopesOf(ALL_PERMISSIONS),
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: [...CLIENT_AUTHENTICATION],
    revocation_endpoint_auth_methods_supported: [...CLIENT_AUTHENTICATION],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${base}/docs`,
  };
}

/**
 * Returns the metadata of a protected resource (RFC 9728): the API, or its part at a path. Lists only scopes that any
 * client may request, because self-registered clients request all listed scopes.
 */
export function resourceMetadata(config: Urls, path = '') {
  return {
    resource: `${config.API_PUBLIC_URL}${path}`,
    authorization_servers: [issuer(config)],
    scopes_supported: scopesOf(SELF_REGISTERED_MAX),
    bearer_methods_supported: ['header'],
    resource_name: 'Heron',
    resource_documentation: `${config.API_PUBLIC_URL}/docs`,
  };
}
