/**
 * Authorization server of a provider's stub: authorization code with PKCE, refresh with or without rotation,
 * revocation.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Answer, formOf, type Heard, type Route } from './server.ts';

/** Properties in which the authorization servers of providers differ. */
interface OAuthDeclaration {
  authorizePath: string;
  tokenPath: string;
  /** Place of the client's id and secret in token requests. */
  clientAuth: 'body' | 'basic';
  /** `required`: an authorization without a challenge is refused. `ignored`: the provider does not support PKCE. */
  pkce: 'required' | 'optional' | 'ignored';
  /** True if a refresh returns a new refresh token and ends the old one. */
  rotates: boolean;
  /** Scopes that exist. An authorization with any other scope is refused. */
  scopes: readonly string[];
  /** Separator of scopes in the authorization. */
  scopeSeparator?: ' ' | ',';
  /** Required parameters of the authorization. */
  needs?: Record<string, string>;
  /** Returns the provider's error answer to a token request. */
  refusal: (error: OAuthError, description: string) => Answer;
  /** Returns the provider's answer with tokens. */
  tokens: (grant: Grant, fresh: { access: string; refresh: string; expiresIn: number; first: boolean }) => object;
  prefix?: string;
}

type OAuthError = 'invalid_client' | 'invalid_grant' | 'invalid_request' | 'unsupported_grant_type';

/** Permission that a person has granted. */
export interface Grant {
  scopes: readonly string[];
  /** Person or workspace that granted the permission, by its name in the stub. */
  account: string;
}

export interface OAuthServer {
  clientId: string;
  clientSecret: string;
  routes: Record<string, Route>;
  /** Keys of the routes that need no access token. */
  open: string[];
  /** Simulates a person who opens the URL in a browser and grants or denies access. Returns the redirect URL. */
  consent(authorizeUrl: string, how?: { account?: string; deny?: boolean }): string;
  /** Returns the grant of an access token, or `expired` or `unknown`. */
  whose(accessToken: string | undefined): Grant | 'expired' | 'unknown';
  /** Expires every access token; refresh tokens stay valid. */
  expire(): void;
  /** Revokes all tokens, like a person at the provider. */
  revokeAll(): void;
  /** Revokes a token. Returns false if it is unknown. */
  revoke(token: string): boolean;
  /** Every issued access token and refresh token, in order. */
  readonly issued: readonly string[];
  /** Tokens that were revoked by a request. */
  readonly revoked: readonly string[];
  readonly refreshes: number;
  /** Number of requests with an invalid refresh token, such as a used one. */
  readonly refused: number;
  /** Delay (ms) of the answer to a refresh. */
  delayMs: number;
  /** Lifetime (seconds) of access tokens. */
  lifetimeSeconds: number;
}

interface Code {
  grant: Grant;
  challenge: string | null;
  redirectUri: string;
}

/** Returns the routes and the state of an authorization server. */
export function createOAuth(declaration: OAuthDeclaration): OAuthServer {
  const codes = new Map<string, Code>();
  const access = new Map<string, { grant: Grant; until: number }>();
  const refresh = new Map<string, Grant>();
  const revoked: string[] = [];
  const issued: string[] = [];
  let refreshes = 0;
  let refused = 0;
  const token = (kind: string) => `${declaration.prefix ?? ''}${kind}-${randomBytes(18).toString('base64url')}`;

  const give = (grant: Grant, first: boolean, kept?: string): object => {
    const fresh = { access: token('at'), refresh: kept ?? token('rt'), expiresIn: server.lifetimeSeconds, first };
    access.set(fresh.access, { grant, until: Date.now() + server.lifetimeSeconds * 1_000 });
    refresh.set(fresh.refresh, grant);
    issued.push(fresh.access, fresh.refresh);
    return declaration.tokens(grant, fresh);
  };

  const answerToken: Route = async (heard) => {
    const form = formOf(heard, (problem) => declaration.refusal('invalid_request', problem));
    checkClient(declaration, server, heard, form);
    const kind = form.get('grant_type') ?? (form.has('code') ? 'authorization_code' : null);
    if (kind === 'authorization_code') {
      const code = codes.get(form.get('code') ?? '');
      codes.delete(form.get('code') ?? '');
      if (
        !code ||
        code.redirectUri !== form.get('redirect_uri') ||
        !provesKey(code.challenge, form.get('code_verifier'))
      )
        throw declaration.refusal('invalid_grant', 'The code is not good');
      return give(code.grant, true);
    }
    if (kind !== 'refresh_token') throw declaration.refusal('unsupported_grant_type', `No such grant: ${kind}`);
    refreshes += 1;
    if (server.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, server.delayMs));
    const given = form.get('refresh_token') ?? '';
    const grant = refresh.get(given);
    if (!grant) {
      refused += 1;
      throw declaration.refusal('invalid_grant', 'The refresh token is not good');
    }
    if (declaration.rotates) refresh.delete(given);
    return give(grant, false, declaration.rotates ? undefined : given);
  };

  const server: OAuthServer = {
    clientId: `client-${randomBytes(6).toString('hex')}`,
    clientSecret: randomBytes(18).toString('base64url'),
    routes: {
      [`GET ${declaration.authorizePath}`]: (heard) =>
        new Answer(302, undefined, {
          location: server.consent(`http://double${heard.path}?${heard.query.toString()}`),
        }),
      [`POST ${declaration.tokenPath}`]: answerToken,
    },
    open: [`GET ${declaration.authorizePath}`, `POST ${declaration.tokenPath}`],
    consent(authorizeUrl, { account = 'Acme', deny = false } = {}) {
      const { pathname, searchParams: query } = new URL(authorizeUrl);
      const scopes = checkAuthorization(declaration, server, pathname, query);
      const back = new URL(query.get('redirect_uri')!);
      if (query.has('state')) back.searchParams.set('state', query.get('state')!);
      if (deny) {
        back.searchParams.set('error', 'access_denied');
        return back.href;
      }
      const code = randomBytes(16).toString('hex');
      const challenge = declaration.pkce === 'ignored' ? null : query.get('code_challenge');
      codes.set(code, { grant: { scopes, account }, challenge, redirectUri: query.get('redirect_uri')! });
      back.searchParams.set('code', code);
      return back.href;
    },
    whose(given) {
      const found = access.get(given ?? '');
      if (!found) return 'unknown';
      return found.until > Date.now() ? found.grant : 'expired';
    },
    expire() {
      for (const kept of access.values()) kept.until = 0;
    },
    revokeAll() {
      access.clear();
      refresh.clear();
    },
    revoke(given) {
      const grant = refresh.get(given) ?? access.get(given)?.grant;
      if (!grant) return false;
      revoked.push(given);
      for (const [key, other] of refresh) if (other === grant) refresh.delete(key);
      for (const [key, other] of access) if (other.grant === grant) access.delete(key);
      return true;
    },
    issued,
    revoked,
    get refreshes() {
      return refreshes;
    },
    get refused() {
      return refused;
    },
    delayMs: 0,
    lifetimeSeconds: 1_800,
  };
  return server;
}

/** Returns the token of `Authorization: Bearer …`. */
export function bearerOf(heard: Heard): string | undefined {
  return /^Bearer (\S+)$/.exec(heard.headers.authorization ?? '')?.[1];
}

/** Returns name and password of `Authorization: Basic …`. */
export function basicOf(heard: Heard): { name: string; password: string } | undefined {
  const encoded = /^Basic ([A-Za-z0-9+/=]+)$/.exec(heard.headers.authorization ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Checks an authorization request. The provider would show an error page, so a mistake here fails the test. */
function checkAuthorization(
  declaration: OAuthDeclaration,
  { clientId }: OAuthServer,
  path: string,
  query: URLSearchParams,
): string[] {
  const fail = (problem: string): never => {
    throw new Answer(400, `The provider shows an error page: ${problem}`);
  };
  if (path !== declaration.authorizePath) fail(`there is no ${path}`);
  if (query.get('client_id') !== clientId) fail('client_id is not known');
  if (query.get('response_type') !== 'code') fail('response_type is not code');
  if (!URL.canParse(query.get('redirect_uri') ?? '')) fail('redirect_uri is no address');
  if (!query.get('state')) fail('state is missing');
  for (const [name, value] of Object.entries(declaration.needs ?? {}))
    if (query.get(name) !== value) fail(`${name} is not ${value}`);
  if (declaration.pkce !== 'ignored') {
    const challenge = query.get('code_challenge');
    if (challenge === null && declaration.pkce === 'required') fail('code_challenge is missing');
    if (challenge !== null && query.get('code_challenge_method') !== 'S256') fail('code_challenge_method is not S256');
  }
  const scopes = (query.get('scope') ?? '').split(declaration.scopeSeparator ?? ' ').filter(Boolean);
  for (const scope of scopes) if (!declaration.scopes.includes(scope)) fail(`there is no scope ${scope}`);
  return scopes;
}

function checkClient(declaration: OAuthDeclaration, server: OAuthServer, heard: Heard, form: URLSearchParams): void {
  const basic = basicOf(heard);
  const [id, secret] =
    declaration.clientAuth === 'basic'
      ? [basic?.name, basic?.password]
      : [form.get('client_id') ?? undefined, form.get('client_secret') ?? undefined];
  if (id !== server.clientId || !same(secret ?? '', server.clientSecret))
    throw declaration.refusal('invalid_client', 'The client is not known');
}

function provesKey(challenge: string | null, verifier: string | null): boolean {
  if (challenge === null) return true;
  return (
    createHash('sha256')
      .update(verifier ?? '')
      .digest('base64url') === challenge
  );
}

function same(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(a!, b!);
}
