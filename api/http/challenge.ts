import type { Actor } from '../../domain/platform/kernel/actor.ts';
import { scopesOf, scopeText, SELF_REGISTERED_MAX } from '../../domain/identity/scopes.ts';
import type { Config } from '../../lib/config/index.ts';
import { AppError } from '../../lib/errors.ts';
import { maskOf, type Permission } from '../../lib/permissions.ts';
import type { AnyRoute } from './route.ts';
import { message } from '../../messages/index.ts';

/** Path of the protected resource metadata (RFC 9728) of the API. */
const API_METADATA = '/.well-known/oauth-protected-resource';

/**
 * Returns the WWW-Authenticate value of a refusal (RFC 6750, section 3; RFC 9728, section 5.1). It tells a client where
 * the authorization server is and which scopes to request.
 */
function challenge(spec: AnyRoute, config: Config, parameters: Record<string, string> = {}): string {
  const all = {
    ...parameters,
    resource_metadata: new URL(spec.resourceMetadata ?? API_METADATA, config.API_PUBLIC_URL).href,
  };
  return `Bearer ${Object.entries(all)
    .map(([name, value]) => `${name}="${value.replace(/[^ -~]|["\\]/g, '')}"`)
    .join(', ')}`;
}

/**
 * Returns the scopes that a client without a valid token should request. Only a resource with its own metadata, such as
 * the MCP endpoint, names scopes, because it publishes no list of routes.
 */
function requestedScopes(spec: AnyRoute): Record<string, string> {
  return spec.resourceMetadata ? { scope: scopeText(SELF_REGISTERED_MAX) } : {};
}

/** Creates the 401 for a request without a credential. */
export function needsCredential(spec: AnyRoute, config: Config): AppError {
  return new AppError('unauthorized', message('access.needs_credential'), {
    fix: message('access.needs_credential.fix'),
    headers: { 'WWW-Authenticate': challenge(spec, config, requestedScopes(spec)) },
  });
}

/**
 * Adds the challenge `invalid_token` to a 401 thrown while a credential was resolved. Returns other errors unchanged.
 */
export function refusedCredential(spec: AnyRoute, config: Config, error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== 'unauthorized') return error;
  return new AppError('unauthorized', error.said, {
    ...(error.fix ? { fix: error.fix } : {}),
    headers: {
      'WWW-Authenticate': challenge(spec, config, {
        error: 'invalid_token',
        error_description: error.message,
        ...requestedScopes(spec),
      }),
    },
    cause: error,
  });
}

/**
 * Creates the 403 for a key or token without a required scope. For an OAuth client the challenge lists both the granted
 * and the missing scopes, because the token it requests next replaces the current one.
 * @param spec the route that the client called
 */
export function insufficientScope(
  spec: AnyRoute,
  config: Config,
  actor: Actor,
  needed: readonly Permission[],
): AppError {
  const scope = scopesOf(maskOf(needed) | (actor.kind === 'oauth' ? actor.permissions : 0)).join(' ');
  return new AppError('forbidden', message('access.lacks_scope', { scopes: needed }), {
    headers: { 'WWW-Authenticate': challenge(spec, config, { error: 'insufficient_scope', scope }) },
  });
}
