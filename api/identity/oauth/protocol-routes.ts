import { resourceMetadata, serverMetadata } from '../../../domain/identity/oauth/metadata.ts';
import { registerClient } from '../../../domain/identity/oauth/register.ts';
import { revokeToken } from '../../../domain/identity/oauth/revoke.ts';
import { issueTokens } from '../../../domain/identity/oauth/tokens.ts';
import { MCP_PATHS } from '../../../domain/identity/oauth/urls.ts';
import { route, type AnyRoute } from '../../http/route.ts';
import { presentRegistered } from './present.ts';
import * as schemas from './schemas.ts';

const open = { area: 'oauth', scope: 'public', permission: null, anyOrigin: true } as const;
const documents = { ...open, method: 'get', atRoot: true, cacheControl: 'public, max-age=300' } as const;
/** Metadata paths of the API, and of the MCP endpoint under both of its paths. */
const METADATA_PATHS = [
  { name: '', path: '' },
  ...MCP_PATHS.map((path, index) => ({ name: index === 0 ? '.mcp' : '.v1mcp', path })),
];

/** Routes of the OAuth protocol: metadata, registration, tokens. */
export const protocolRoutes: readonly AnyRoute[] = [
  ...METADATA_PATHS.map(({ name, path }) =>
    route({
      ...documents,
      operationId: `oauth.getServerMetadata${name}`,
      path: `/.well-known/oauth-authorization-server${path}`,
      summary: `Metadata of the authorization server (RFC 8414)${path ? `, where clients of ${path} look` : ''}`,
      success: { status: 200, body: schemas.serverMetadata },
      handler: async ({ config }) => serverMetadata(config),
    }),
  ),
  ...METADATA_PATHS.map(({ name, path }) =>
    route({
      ...documents,
      operationId: `oauth.getResourceMetadata${name}`,
      path: `/.well-known/oauth-protected-resource${path}`,
      summary: `Metadata of the protected resource ${path || 'this API is'} (RFC 9728)`,
      success: { status: 200, body: schemas.resourceMetadata },
      handler: async ({ config }) => resourceMetadata(config, path),
    }),
  ),
  route({
    ...open,
    operationId: 'oauth.registerClient',
    method: 'post',
    path: '/oauth/register',
    summary: 'Register a public client (RFC 7591)',
    description:
      'Registration grants no access: a person must approve scopes first. Such a client can never get send_campaigns or api_keys. Metadata that is not supported is replaced or left out, and the answer is what was registered. Only unsafe redirect URIs are refused. Registrations per address are limited.',
    body: schemas.registration,
    bodyLimit: 64 * 1024,
    errorStyle: 'registration',
    cacheControl: 'no-store',
    success: { status: 201, body: schemas.registered },
    errors: ['rate_limit_exceeded'],
    handler: async (ctx, { body }) => presentRegistered(await registerClient(ctx, body)),
  }),
  route({
    ...open,
    operationId: 'oauth.issueToken',
    method: 'post',
    path: '/oauth/token',
    summary: 'Exchange a code or a refresh token for new tokens',
    description:
      'A code works once, for ten minutes; using it again revokes the tokens it gave. A refresh token works once, for ninety days; using it again revokes all tokens of the same approval. Clients authenticate by `none` (public), HTTP Basic or `client_secret`.',
    consumes: 'form',
    body: schemas.tokenForm,
    bodyLimit: 64 * 1024,
    errorStyle: 'oauth',
    cacheControl: 'no-store',
    success: { status: 200, body: schemas.tokens },
    errors: ['unauthorized'],
    handler: async (ctx, { body, headers }) => issueTokens(ctx, body, headers.authorization),
  }),
  route({
    ...open,
    operationId: 'oauth.revokeToken',
    method: 'post',
    path: '/oauth/revoke',
    summary: 'Revoke the grant of a token (RFC 7009)',
    description:
      'Every token of the same person, workspace and application becomes invalid within a second. The answer is the same for unknown tokens and tokens of other clients.',
    consumes: 'form',
    body: schemas.revokeForm,
    bodyLimit: 64 * 1024,
    errorStyle: 'oauth',
    cacheControl: 'no-store',
    success: { status: 200, description: 'Done; no body' },
    errors: ['unauthorized'],
    handler: async (ctx, { body, headers }) => revokeToken(ctx, body, headers.authorization),
  }),
];
