import { across } from '../../../db/across.ts';
import { newSecret, SECRET_PREFIX, sha256 } from '../../../lib/crypto.ts';
import { AppError, badRequest } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { maskOf, namesOf, type Permission } from '../../../lib/permissions.ts';
import type { Ctx, Deps } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { findClient, type Client } from './clients.ts';
import type { OAuthCode } from './errors.ts';
import { lockGrantable, upsertGrant } from './grants.ts';
import { redirectUriMatches } from './redirect-uris.ts';
import { readScopeText, scopeName } from '../scopes.ts';
import { isOwnResource, issuer } from './urls.ts';

/** Lifetime of an authorization code, ms. */
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

/** A fully checked request, which can be shown to a person. */
export interface AuthorizationRequest {
  kind: 'request';
  application: Client;
  redirectUri: string;
  /** The requested scopes: never more than the application is registered with. */
  scopes: Permission[];
  state: string | undefined;
  /** PKCE S256; null where a confidential client sent none. */
  codeChallenge: string | null;
  /** `resource` of RFC 8707, one of this installation's; null when none was named. */
  resource: string | null;
  issuer: string;
}

/**
 * A request that is refused before anyone is asked. `page`: the client or the redirect URI is not certain, so the error is a page.
 * `redirect`: the application gets the error, at an address known to be its own.
 */
export type AuthorizationRefusal = { kind: 'page'; message: string } | { kind: 'redirect'; location: string };

type AuthorizationQuery = URLSearchParams | Record<string, string | readonly string[] | undefined>;

/**
 * Checks an authorization request (GET {app_url}/oauth/authorize): the client and its redirect URI first, as
 * everything after is answered there.
 */
export async function readAuthorizationRequest(
  deps: Pick<Deps, 'db' | 'config'>,
  query: AuthorizationQuery,
): Promise<AuthorizationRequest | AuthorizationRefusal> {
  const values = new Map(SINGLE.map((name) => [name, valuesOf(query, name)]));
  const repeated = SINGLE.filter((name) => values.get(name)!.length > 1);
  if (repeated.length > 0) return { kind: 'page', message: `The request names ${repeated.join(', ')} more than once.` };
  const value = (name: Parameter) => values.get(name)![0];

  const application = await findClient(deps, value('client_id') ?? '');
  if (!application) return { kind: 'page', message: 'The application is unknown: no client has this client_id.' };
  const redirectUri = value('redirect_uri');
  if (redirectUri === undefined) return { kind: 'page', message: 'The request has no redirect_uri.' };
  if (!application.redirect_uris.some((registered) => redirectUriMatches(registered, redirectUri))) {
    return { kind: 'page', message: 'The redirect_uri is not one of those registered for this application.' };
  }

  const request = { application, redirectUri, state: value('state'), issuer: issuer(deps.config) };
  const resources = valuesOf(query, 'resource');
  const codeChallenge = value('code_challenge') ?? null;
  const { mask, unknown } = readScopeText(value('scope') ?? '');
  const beyond = [...unknown, ...namesOf(mask & ~application.scopes).map(scopeName)];

  if (value('response_type') === undefined) return refuse(request, 'invalid_request', 'response_type is missing');
  if (value('response_type') !== 'code')
    return refuse(request, 'unsupported_response_type', 'response_type must be code');
  if ((value('response_mode') ?? 'query') !== 'query')
    return refuse(request, 'invalid_request', 'response_mode must be query');
  const pkce = pkceProblem(codeChallenge, value('code_challenge_method'), application);
  if (pkce) return refuse(request, 'invalid_request', pkce);
  if (beyond.length > 0)
    return refuse(request, 'invalid_scope', 'The application is not registered for every scope it asks for');
  if (!resources.every((resource) => isOwnResource(deps, resource)))
    return refuse(request, 'invalid_target', 'resource is not one of this server');
  return {
    kind: 'request',
    ...request,
    scopes: namesOf(mask === 0 ? application.scopes : mask),
    codeChallenge,
    resource: resources[0] ?? null,
  };
}

function pkceProblem(challenge: string | null, method: string | undefined, client: Client): string | undefined {
  if (challenge === null) {
    if (method !== undefined) return 'code_challenge_method comes without a code_challenge';
    return client.client_secret_hash === null
      ? 'code_challenge is missing: a client without a secret needs PKCE'
      : undefined;
  }
  if (method !== 'S256') return 'code_challenge_method must be S256';
  return S256_CHALLENGE.test(challenge) ? undefined : 'code_challenge is not the S256 of a verifier';
}

/** Values of a parameter; one without a value counts as omitted (RFC 6749, section 3.1). */
function valuesOf(query: AuthorizationQuery, name: string): string[] {
  const found = query instanceof URLSearchParams ? query.getAll(name) : [query[name] ?? []].flat();
  return found.length === 1 && found[0] === '' ? [] : [...found];
}

/**
 * Stores what a person approved, in the workspace of the context, and sends the browser back with a code. Approving
 * again replaces the earlier approval: existing tokens carry no more than the newest approval.
 * @param scopes what the person left ticked, of `request.scopes`
 * @throws AppError bad_request (no scope, or one that was not asked for), forbidden (not a member, or a scope the person's
 *   role does not let them grant: `grantableScopes` lists the allowed ones)
 */
export async function approveAuthorization(
  ctx: Ctx,
  request: AuthorizationRequest,
  scopes: readonly Permission[],
): Promise<{ location: string }> {
  const { actor } = ctx;
  if (actor.kind !== 'session' || !actor.userId)
    throw new AppError('forbidden', 'Only a signed-in person can approve an application');
  const strange = scopes.filter((scope) => !request.scopes.includes(scope));
  if (strange.length > 0) throw badRequest(`The application did not ask for ${strange.map(scopeName).join(', ')}`);
  if (scopes.length === 0)
    throw badRequest('Nothing was approved', [
      { path: 'body.scopes', message: 'Choose at least one, or deny the request' },
    ]);
  const mask = maskOf(scopes);
  const code = newSecret(SECRET_PREFIX.authorizationCode);
  const userId = actor.userId;
  await transact(ctx, async (tx) => {
    const held = await lockGrantable(tx, userId);
    const missing = namesOf(mask & ~held);
    if (missing.length > 0)
      throw new AppError(
        'forbidden',
        `Your role in this workspace does not let you hand out ${missing.map(scopeName).join(', ')}`,
      );
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

/** Sends the browser back with the person's refusal. */
export function denyAuthorization(request: Pick<AuthorizationRequest, 'redirectUri' | 'state' | 'issuer'>): {
  location: string;
} {
  return { location: refuse(request, 'access_denied', 'The person denied the request').location };
}

function refuse(
  request: Pick<AuthorizationRequest, 'redirectUri' | 'state' | 'issuer'>,
  error: OAuthCode,
  description: string,
): { kind: 'redirect'; location: string } {
  const { redirectUri, state, issuer: iss } = request;
  return { kind: 'redirect', location: answerAt(redirectUri, { error, error_description: description, state, iss }) };
}

/** A redirect URI with the answer added to its own query, which stays as it is (RFC 6749, section 4.1.2). */
function answerAt(redirectUri: string, answer: Record<string, string | undefined>): string {
  const parameters = new URLSearchParams(
    Object.entries(answer).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const joint = !redirectUri.includes('?') ? '?' : /[?&]$/.test(redirectUri) ? '' : '&';
  return `${redirectUri}${joint}${parameters.toString()}`;
}
