import { across } from '../../../db/across.ts';
import { newSecret, SECRET_PREFIX, sha256 } from '../../../lib/crypto.ts';
import { AppError, badRequest } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { maskOf, namesOf, type Permission } from '../../../lib/permissions.ts';
import type { Ctx, Deps } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { assertHeld } from '../../platform/rights.ts';
import { findClient, type Client } from './clients.ts';
import type { OAuthCode } from './errors.ts';
import { lockMembership, upsertGrant } from './grants.ts';
import { redirectUriMatches } from './redirect-uris.ts';
import { readScopeText, scopeName } from '../scopes.ts';
import { isOwnResource, issuer } from './urls.ts';
import { message, type Message } from '../../../messages/index.ts';
import { render } from '../../../messages/render.ts';

/** Lifetime (ms) of an authorization code. */
const CODE_MS = 10 * 60_000;
const S256_CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
const SINGLE = [
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'response_mode',
] as const;
type Parameter = (typeof SINGLE)[number];

/** A completely checked request, which may be shown to a person. */
export interface AuthorizationRequest {
  kind: 'request';
  application: Client;
  redirectUri: string;
  /** Requested scopes for which the application is registered. */
  scopes: Permission[];
  state: string | undefined;
  /** PKCE challenge (S256). Null if a confidential client sent none. */
  codeChallenge: string | null;
  /** Parameter `resource` of RFC 8707, which names a resource of this installation. Null if the request names none. */
  resource: string | null;
  issuer: string;
}

/**
 * A request that is refused before the person decides. `page`: the client or the redirect URI could not be verified, so
 * the error is shown on a page. `redirect`: the error is sent to the application's registered redirect URI.
 */
export type AuthorizationRefusal =
  | { kind: 'page'; said: Message }
  | { kind: 'redirect'; location: string; said: Message };

type AuthorizationQuery = URLSearchParams | Record<string, string | readonly string[] | undefined>;

/**
 * Checks an authorization request (GET {app_url}/oauth/authorize). Checks the client and its redirect URI first,
 * because all later errors are sent to that URI.
 */
export async function readAuthorizationRequest(
  deps: Pick<Deps, 'db' | 'config'>,
  query: AuthorizationQuery,
): Promise<AuthorizationRequest | AuthorizationRefusal> {
  const values = new Map(SINGLE.map((name) => [name, valuesOf(query, name)]));
  const repeated = SINGLE.filter((name) => values.get(name)!.length > 1);
  if (repeated.length > 0) return { kind: 'page', said: message('oauth.repeated', { parameters: repeated }) };
  const value = (name: Parameter) => values.get(name)![0];

  const application = await findClient(deps, value('client_id') ?? '');
  if (!application) return { kind: 'page', said: message('oauth.unknown_client') };
  const redirectUri = value('redirect_uri');
  if (redirectUri === undefined) return { kind: 'page', said: message('oauth.no_redirect_uri') };
  if (!application.redirect_uris.some((registered) => redirectUriMatches(registered, redirectUri))) {
    return { kind: 'page', said: message('oauth.foreign_redirect_uri') };
  }

  const request = { application, redirectUri, state: value('state'), issuer: issuer(deps.config) };
  const resources = valuesOf(query, 'resource');
  const codeChallenge = value('code_challenge') ?? null;
  const { mask, unknown } = readScopeText(value('scope') ?? '');
  const beyond = [...unknown, ...namesOf(mask & ~application.scopes).map(scopeName)];

  if (value('response_type') === undefined)
    return refuse(request, 'invalid_request', message('oauth.missing', { parameters: 'response_type' }));
  if (value('response_type') !== 'code')
    return refuse(request, 'unsupported_response_type', message('oauth.response_type'));
  if ((value('response_mode') ?? 'query') !== 'query')
    return refuse(request, 'invalid_request', message('oauth.response_mode'));
  const pkce = pkceProblem(codeChallenge, value('code_challenge_method'), application);
  if (pkce) return refuse(request, 'invalid_request', pkce);
  if (beyond.length > 0) return refuse(request, 'invalid_scope', message('oauth.scope_unregistered'));
  if (!resources.every((resource) => isOwnResource(deps, resource)))
    return refuse(request, 'invalid_target', message('oauth.resource'));
  return {
    kind: 'request',
    ...request,
    scopes: namesOf(mask === 0 ? application.scopes : mask),
    codeChallenge,
    resource: resources[0] ?? null,
  };
}

function pkceProblem(challenge: string | null, method: string | undefined, client: Client): Message | undefined {
  if (challenge === null) {
    if (method !== undefined) return message('oauth.pkce_method_alone');
    return client.client_secret_hash === null ? message('oauth.pkce_missing') : undefined;
  }
  if (method !== 'S256') return message('oauth.pkce_method');
  return S256_CHALLENGE.test(challenge) ? undefined : message('oauth.pkce_challenge');
}

/** Returns the values of a parameter. An empty value is treated as omitted (RFC 6749, section 3.1). */
function valuesOf(query: AuthorizationQuery, name: string): string[] {
  const found = query instanceof URLSearchParams ? query.getAll(name) : [query[name] ?? []].flat();
  return found.length === 1 && found[0] === '' ? [] : [...found];
}

/**
 * Stores a person's approval in the workspace of the context, and returns the redirect with a code. Approving again
 * replaces the earlier approval: existing tokens have at most the scopes of the newest approval.
 * @param scopes the selected part of `request.scopes`
 * @throws AppError bad_request for no scope, or a scope that was not requested. forbidden for a person who is not a
 * member, or a scope that their role cannot grant
 */
export async function approveAuthorization(
  ctx: Ctx,
  request: AuthorizationRequest,
  scopes: readonly Permission[],
): Promise<{ location: string }> {
  const { actor } = ctx;
  if (actor.kind !== 'session' || !actor.userId) throw new AppError('forbidden', message('oauth.approve_people_only'));
  const strange = scopes.filter((scope) => !request.scopes.includes(scope));
  if (strange.length > 0) throw badRequest(message('oauth.not_asked', { scopes: strange.map(scopeName) }));
  if (scopes.length === 0)
    throw badRequest(message('oauth.nothing_approved'), [
      { path: 'body.scopes', message: message('field.scopes_chosen') },
    ]);
  const mask = maskOf(scopes);
  const code = newSecret(SECRET_PREFIX.authorizationCode);
  const userId = actor.userId;
  await transact(ctx, async (tx) => {
    await lockMembership(tx, userId);
    await assertHeld(tx.org, actor, { scopes: mask }, (beyond) => {
      const missing = beyond.map((name) => scopeName(name as Permission));
      return new AppError('forbidden', message('oauth.beyond_role', { scopes: missing }));
    });
    const grantId = await upsertGrant(tx, { applicationId: request.application.id, userId, scopes: mask });
    await across(tx.trx, 'credential').insert('oauth_codes', {
      id: newId(),
      code_hash: sha256(code),
      grant_id: grantId,
      scopes: mask,
      redirect_uri: request.redirectUri,
      code_challenge: request.codeChallenge,
      resource: request.resource,
      created_at: tx.now,
      expires_at: new Date(tx.now.getTime() + CODE_MS),
    });
  });
  return { location: answerAt(request.redirectUri, { code, state: request.state, iss: request.issuer }) };
}

/** Returns the redirect that reports to the application that the person refused. */
export function denyAuthorization(request: Pick<AuthorizationRequest, 'redirectUri' | 'state' | 'issuer'>): {
  location: string;
} {
  return { location: refuse(request, 'access_denied', message('oauth.denied')).location };
}

function refuse(
  request: Pick<AuthorizationRequest, 'redirectUri' | 'state' | 'issuer'>,
  error: OAuthCode,
  said: Message,
): { kind: 'redirect'; location: string; said: Message } {
  const { redirectUri, state, issuer: iss } = request;
  // Writes the description in English, because RFC 6749 allows only ASCII in it.
  const location = answerAt(redirectUri, { error, error_description: render(said), state, iss });
  return { kind: 'redirect', location, said };
}

/** Adds the response parameters to a redirect URI. The URI's own query is kept (RFC 6749, section 4.1.2). */
function answerAt(redirectUri: string, answer: Record<string, string | undefined>): string {
  const parameters = new URLSearchParams(
    Object.entries(answer).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const joint = !redirectUri.includes('?') ? '?' : /[?&]$/.test(redirectUri) ? '' : '&';
  return `${redirectUri}${joint}${parameters.toString()}`;
}
