import { across } from '../../../db/across.ts';
import { newSecret, SECRET_PREFIX } from '../../../lib/crypto.ts';
import type { Problem } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { namesOf } from '../../../lib/permissions.ts';
import { toSource } from '../../../lib/source.ts';
import { throttle } from '../throttle.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import type { Client } from './clients.ts';
import { OAuthError } from './errors.ts';
import { nameProblem, webUrlProblem } from './input.ts';
import { redirectUriProblem } from './redirect-uris.ts';
import { readScopeText, scopeName, SELF_REGISTERED_MAX } from '../scopes.ts';
import { message, type Message } from '../../../messages/index.ts';

const UNNAMED = 'Unnamed application';

/** Supported client metadata of RFC 7591. Other fields are ignored, as the RFC requires. */
interface ClientMetadata {
  client_name?: string | undefined;
  redirect_uris: string[];
  token_endpoint_auth_method?: string | undefined;
  grant_types?: string[] | undefined;
  response_types?: string[] | undefined;
  scope?: string | undefined;
  client_uri?: string | undefined;
  logo_uri?: string | undefined;
}

/**
 * Registers a client at its own request (POST /oauth/register; RFC 7591). The application becomes a public client,
 * which has no access before a person approves it. Without `scope` it may request every scope available to such
 * clients.
 * @throws OAuthError invalid_redirect_uri, invalid_client_metadata (with every problem); AppError rate_limit_exceeded
 */
export async function registerClient(ctx: Ctx, metadata: ClientMetadata): Promise<Client & { created_at: Date }> {
  await throttle(ctx, 'client_registrations', toSource(ctx.actor.ipAddress), ctx.config.OAUTH_REGISTRATIONS_PER_HOUR);
  const redirectProblems: Problem[] = metadata.redirect_uris.flatMap((uri, index) => {
    const fault = redirectUriProblem(uri, { privateUse: true });
    return fault ? [{ path: `body.redirect_uris.${index}`, message: fault }] : [];
  });
  const scopes =
    metadata.scope === undefined ? { mask: SELF_REGISTERED_MAX, unknown: [] } : readScopeText(metadata.scope);
  const problems = [...redirectProblems, ...metadataProblems(metadata), ...scopeProblems(scopes)];
  if (problems.length > 0) {
    const code = redirectProblems.length > 0 ? 'invalid_redirect_uri' : 'invalid_client_metadata';
    throw new OAuthError(code, message('oauth.unregistrable'), { problems });
  }
  const now = ctx.clock.now();
  const row = {
    id: newId(),
    organization_id: null,
    client_id: newSecret(SECRET_PREFIX.clientId),
    client_secret_hash: null,
    self_registered: true,
    name: metadata.client_name ?? UNNAMED,
    description: '',
    logo_url: metadata.logo_uri ?? '',
    website_url: metadata.client_uri ?? '',
    redirect_uris: [...new Set(metadata.redirect_uris)],
    scopes: scopes.mask,
    created_at: now,
    updated_at: now,
  };
  await across(ctx.db, 'application').insert('oauth_applications', row);
  ctx.log.info({ applicationId: row.id }, 'client registered itself');
  return row;
}

function metadataProblems(metadata: ClientMetadata): Problem[] {
  const problems: Problem[] = [];
  const add = (field: string, fault: Message | undefined) => {
    if (fault) problems.push({ path: `body.${field}`, message: fault });
  };
  if (metadata.client_name !== undefined) add('client_name', nameProblem(metadata.client_name));
  if ((metadata.token_endpoint_auth_method ?? 'none') !== 'none')
    add('token_endpoint_auth_method', message('field.client_secretless'));
  const grants = metadata.grant_types ?? ['authorization_code'];
  if (
    !grants.includes('authorization_code') ||
    grants.some((type) => type !== 'authorization_code' && type !== 'refresh_token')
  ) {
    add('grant_types', message('field.client_grants'));
  }
  const responses = metadata.response_types ?? ['code'];
  if (responses.length === 0 || responses.some((type) => type !== 'code'))
    add('response_types', message('field.value', { value: 'code' }));
  if (metadata.client_uri !== undefined) add('client_uri', webUrlProblem(metadata.client_uri));
  if (metadata.logo_uri !== undefined) add('logo_uri', webUrlProblem(metadata.logo_uri));
  return problems;
}

function scopeProblems({ mask, unknown }: { mask: number; unknown: string[] }): Problem[] {
  const forbidden = namesOf(mask & ~SELF_REGISTERED_MAX).map(scopeName);
  const problems: Problem[] = [];
  if (unknown.length > 0) problems.push({ path: 'body.scope', message: message('field.scopes_unknown') });
  if (forbidden.length > 0)
    problems.push({ path: 'body.scope', message: message('field.scopes_forbidden', { scopes: forbidden }) });
  if (mask === 0 && unknown.length === 0) problems.push({ path: 'body.scope', message: message('field.scopes_none') });
  return problems;
}
