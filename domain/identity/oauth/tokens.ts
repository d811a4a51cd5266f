import { across } from '../../../db/across.ts';
import { codeChallenge, newSecret, safeEqual, SECRET_PREFIX, sha256 } from '../../../lib/crypto.ts';
import { grantableWith } from '../../../lib/grantable.ts';
import { newId } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { assertAuthentic, isClientId, readClientCredentials, type ClientCredentials } from './clients.ts';
import { OAuthError } from './errors.ts';
import { readScopeText, scopeText } from '../scopes.ts';
import { isOwnResource } from './urls.ts';
import { message, type Message } from '../../../messages/index.ts';

/** Lifetime (seconds) of an access token. */
const ACCESS_SECONDS = 3600;
/** Lifetime (ms) of a refresh token. */
const REFRESH_MS = 90 * 86_400_000;
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** Form fields of POST /oauth/token. A field without a value is treated as omitted. */
interface TokenForm {
  grant_type?: string | undefined;
  code?: string | undefined;
  redirect_uri?: string | undefined;
  code_verifier?: string | undefined;
  refresh_token?: string | undefined;
  scope?: string | undefined;
  client_id?: string | undefined;
  client_secret?: string | undefined;
  resource?: string | readonly string[] | undefined;
}

/** A new token pair, in the form of RFC 6749. */
interface IssuedTokens {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  refresh_token: string;
  scope: string;
}

/** A client, and the current state of its grant. */
interface Standing {
  application_id: string;
  client_secret_hash: string | null;
  application_scopes: number;
  /** Id of the code or refresh token. Null if there is no such code or token. */
  id: string | null;
  grant_id: string;
  family_id: string;
  scopes: number;
  expires_at: Date;
  grant_application_id: string;
  organization_id: string;
  grant_scopes: number;
  grant_revoked_at: Date | null;
  /** Permissions of the person's role. Null if they have left the workspace. */
  role_permissions: string[] | null;
}

interface CodeStanding extends Standing {
  redirect_uri: string;
  code_challenge: string | null;
  consumed_at: Date | null;
}

interface RefreshStanding extends Standing {
  replaced_at: Date | null;
  revoked_at: Date | null;
}

const GRANT = `
  left join oauth_grants g on g.id = x.grant_id
  left join memberships m on m.organization_id = g.organization_id and m.user_id = g.user_id
  left join roles r on r.id = m.role_id
  where a.client_id = :client`;
const ABOUT = `a.id as application_id, a.client_secret_hash, a.scopes as application_scopes, x.id, x.grant_id, x.scopes, x.expires_at,
  g.application_id as grant_application_id, g.organization_id, g.scopes as grant_scopes, g.revoked_at as grant_revoked_at,
  r.permissions as role_permissions`;
const FIND_CODE = `select ${ABOUT}, x.id as family_id, x.redirect_uri, x.code_challenge, x.consumed_at
  from oauth_applications a left join oauth_codes x on x.code_hash = :hash ${GRANT}`;
const FIND_REFRESH = `select ${ABOUT}, x.family_id, x.replaced_at, x.revoked_at
  from oauth_applications a left join oauth_tokens x on x.token_hash = :hash and x.kind = 'refresh' ${GRANT}`;

/**
 * Marks the code or refresh token as used and stores the new token pair, in one statement. If two requests use the same
 * code or token, only one of them receives a pair.
 */
const STORE_PAIR = `
  insert into oauth_tokens (id, grant_id, family_id, kind, token_hash, scopes, resource, created_at, expires_at)
  select cast(:accessId as uuid), grant_id, family_id, 'access', :accessHash, cast(:accessScopes as bigint), resource, used_at, cast(:accessEnds as timestamptz) from used
  union all
  select cast(:refreshId as uuid), grant_id, family_id, 'refresh', :refreshHash, scopes, resource, used_at, cast(:refreshEnds as timestamptz) from used`;
const USE_CODE = `with used as (
    update oauth_codes set consumed_at = :now where id = :id and consumed_at is null
    returning id as family_id, grant_id, scopes, resource, consumed_at as used_at) ${STORE_PAIR}`;
const USE_REFRESH = `with used as (
    update oauth_tokens set replaced_at = :now where id = :id and replaced_at is null and revoked_at is null
    returning family_id, grant_id, scopes, resource, replaced_at as used_at) ${STORE_PAIR}`;

/**
 * Handles the token endpoint: exchanges a code or a refresh token for a new pair.
 * @param authorization the Authorization header, if any
 * @throws OAuthError invalid_request, unsupported_grant_type, invalid_client, invalid_grant, invalid_scope,
 * invalid_target
 */
export async function issueTokens(ctx: Ctx, form: TokenForm, authorization: string | undefined): Promise<IssuedTokens> {
  if (form.grant_type === undefined)
    throw new OAuthError('invalid_request', message('oauth.missing', { parameters: 'grant_type' }));
  const exchange =
    form.grant_type === 'authorization_code'
      ? exchangeCode
      : form.grant_type === 'refresh_token'
        ? exchangeRefresh
        : undefined;
  if (!exchange) throw new OAuthError('unsupported_grant_type', message('oauth.grant_type'));
  const credentials = readClientCredentials(authorization, form);
  if (![form.resource ?? []].flat().every((resource) => isOwnResource(ctx, resource)))
    throw new OAuthError('invalid_target', message('oauth.resource'));
  return exchange(ctx, form, credentials);
}

async function exchangeCode(ctx: Ctx, form: TokenForm, credentials: ClientCredentials): Promise<IssuedTokens> {
  const missing = (['code', 'redirect_uri'] as const).filter((name) => form[name] === undefined);
  if (missing.length > 0) throw new OAuthError('invalid_request', message('oauth.missing', { parameters: missing }));
  const code = await find<CodeStanding>(ctx, FIND_CODE, credentials, form.code!);
  if (!isOwn(code)) throw invalidGrant(message('oauth.code_unknown'));
  if (code.redirect_uri !== form.redirect_uri) throw invalidGrant(message('oauth.code_redirect'));
  assertVerified(code.code_challenge, form.code_verifier);
  // Treats a request as a replay only if it would have succeeded before the first use. Therefore an attacker who knows
  // only the code cannot end the grant.
  if (code.consumed_at) return replayed(ctx, code, 'code_replayed');
  if (code.expires_at <= ctx.clock.now()) throw invalidGrant(message('oauth.code_expired'));
  const pair = await store(ctx, USE_CODE, code, remainingScopes(code));
  return pair ?? replayed(ctx, code, 'code_replayed');
}

async function exchangeRefresh(ctx: Ctx, form: TokenForm, credentials: ClientCredentials): Promise<IssuedTokens> {
  if (form.refresh_token === undefined)
    throw new OAuthError('invalid_request', message('oauth.missing', { parameters: 'refresh_token' }));
  const token = await find<RefreshStanding>(ctx, FIND_REFRESH, credentials, form.refresh_token);
  if (!isOwn(token)) throw invalidGrant(message('oauth.refresh_unknown'));
  if (token.replaced_at) return replayed(ctx, token, 'refresh_token_replayed');
  if (token.revoked_at) throw invalidGrant(message('oauth.refresh_revoked'));
  if (token.expires_at <= ctx.clock.now()) throw invalidGrant(message('oauth.refresh_expired'));
  const asked = form.scope === undefined ? token.scopes : narrowed(token.scopes, form.scope);
  const pair = await store(ctx, USE_REFRESH, token, remainingScopes(token, asked));
  return pair ?? replayed(ctx, token, 'refresh_token_replayed');
}

/** Reads the client and its code or token in one query, and authenticates the client. */
async function find<S extends Standing>(
  { db }: Ctx,
  sql: string,
  credentials: ClientCredentials,
  secret: string,
): Promise<S> {
  const { clientId: client } = credentials;
  const [found] = isClientId(client)
    ? await across(db, 'credential').sql<S>(sql, { client, hash: sha256(secret) })
    : [];
  assertAuthentic(found, credentials);
  return found;
}

function isOwn(standing: Standing): boolean {
  return standing.id !== null && standing.grant_application_id === standing.application_id;
}

/** Checks the PKCE verifier (RFC 7636; OAuth 2.1). Without a challenge there must be no verifier. */
function assertVerified(challenge: string | null, verifier: string | undefined): void {
  if (challenge === null) {
    if (verifier !== undefined) throw invalidGrant(message('oauth.verifier_alone'));
    return;
  }
  if (verifier === undefined) throw invalidGrant(message('oauth.no_verifier'));
  if (!VERIFIER.test(verifier) || !safeEqual(codeChallenge(verifier), challenge))
    throw invalidGrant(message('oauth.wrong_verifier'));
}

/**
 * Returns the scopes of a new access token: the requested scopes that the person's role, the application and the
 * approval still permit.
 */
function remainingScopes(standing: Standing, asked: number = standing.scopes): number {
  if (standing.grant_revoked_at || !standing.role_permissions) throw invalidGrant(message('oauth.grant_revoked'));
  const scopes = asked & standing.grant_scopes & standing.application_scopes & grantableWith(standing.role_permissions);
  if (scopes === 0) throw invalidGrant(message('oauth.nothing_left'));
  return scopes;
}

/**
 * Reduces the granted scopes to the requested ones. A refresh may request fewer scopes, never more (RFC 6749, section
 * 6).
 */
function narrowed(granted: number, text: string): number {
  const { mask, unknown } = readScopeText(text);
  if (unknown.length > 0 || (mask & ~granted) !== 0 || mask === 0)
    throw new OAuthError('invalid_scope', message('oauth.scope_beyond'));
  return mask;
}

async function store(
  ctx: Ctx,
  sql: string,
  { id }: Pick<Standing, 'id'>,
  scopes: number,
): Promise<IssuedTokens | undefined> {
  const now = ctx.clock.now();
  const access = newSecret(SECRET_PREFIX.accessToken);
  const refresh = newSecret(SECRET_PREFIX.refreshToken);
  const { rowCount } = await across(ctx.db, 'credential').run(sql, {
    id: id!,
    now,
    accessId: newId(),
    accessHash: sha256(access),
    accessScopes: scopes,
    accessEnds: new Date(now.getTime() + ACCESS_SECONDS * 1000),
    refreshId: newId(),
    refreshHash: sha256(refresh),
    refreshEnds: new Date(now.getTime() + REFRESH_MS),
  });
  if (rowCount === 0) return undefined;
  return {
    access_token: access,
    token_type: 'Bearer',
    expires_in: ACCESS_SECONDS,
    refresh_token: refresh,
    scope: scopeText(scopes),
  };
}

/**
 * Handles the second use of a code or refresh token. It means that somebody has copied the code or token, so all tokens
 * issued from it are revoked.
 */
async function replayed(
  ctx: Ctx,
  standing: Standing,
  reason: 'code_replayed' | 'refresh_token_replayed',
): Promise<never> {
  const { family_id: family, grant_id: grantId, organization_id: organizationId } = standing;
  await transact({ ...ctx, actor: { ...ctx.actor, organizationId } }, async (tx) => {
    let ended = 0;
    for (;;) {
      // Repeats until no token is valid, because a concurrent request may store another token pair. Without a valid
      // token no further pair can be issued.
      const more = await across(tx.trx, 'credential')
        .table('oauth_tokens')
        .where({ family_id: family })
        .whereNull('revoked_at')
        .update({ revoked_at: tx.now });
      ended += more;
      if (more === 0) break;
    }
    if (ended > 0)
      tx.audit({
        action: 'revoke',
        entityType: 'oauth_grant',
        entityId: grantId,
        metadata: { reason, application_id: standing.application_id },
      });
  });
  ctx.log.warn({ grantId, reason }, 'tokens of a grant revoked');
  throw invalidGrant(reason === 'code_replayed' ? message('oauth.code_used') : message('oauth.refresh_used'));
}

function invalidGrant(said: Message): OAuthError {
  return new OAuthError('invalid_grant', said);
}
