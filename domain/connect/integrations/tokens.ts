import type { Config } from '../../../lib/config/index.ts';
import { checkOutboundUrl } from '../../../lib/egress/index.ts';
import { AppError } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import { exchange, parseJson, type CallDeps } from './call.ts';
import {
  ReauthRequired,
  Refused,
  Unavailable,
  type Provider,
  type ProviderOAuth,
  type TokenFields,
} from './providers/provider.ts';

/** The installation's OAuth client at a provider, with the provider's endpoints. */
export interface OAuthClient {
  oauth: ProviderOAuth;
  clientId: string;
  clientSecret: string;
  authorizeUrl: string;
  tokenUrl: string;
  revokeUrl: string | undefined;
}

/** OAuth tokens of a connection, which are stored encrypted. */
export interface StoredTokens {
  access_token: string;
  /** Refresh token. Empty if the provider issues none; its access tokens are then valid until revoked. */
  refresh_token: string;
}

/**
 * Extracts the tokens from a token endpoint's response.
 * @param known current refresh token, kept if the answer contains none
 */
export function tokensIn(fields: TokenFields, known = ''): StoredTokens {
  const { access_token: access, refresh_token: refresh } = fields;
  return { access_token: String(access), refresh_token: typeof refresh === 'string' && refresh ? refresh : known };
}

const MAX_ANSWER_BYTES = 256 * 1024;

/**
 * Returns the base URL of an account's API, as the token endpoint's answer names it. It must be an origin below the
 * provider's own domains, or the origin of the token endpoint, which the operator may have set.
 * @returns undefined if the answer contains none, null for any other origin, which must not receive the account's
 * tokens
 */
export function accountBase({ oauth, tokenUrl }: OAuthClient, fields: TokenFields): string | null | undefined {
  const named = oauth.accountBase && fields[oauth.accountBase.field];
  if (typeof named !== 'string' || named === '') return undefined;
  const trusted = new URL(tokenUrl).origin;
  if (URL.canParse(named) && new URL(named).origin === trusted) return trusted;
  const check = checkOutboundUrl(named, { allowedDomains: oauth.accountBase!.domains });
  return check.ok ? check.url.origin : null;
}

/**
 * Returns true if this installation can connect accounts of a provider. A provider with OAuth needs the installation's
 * client.
 */
export function isConfigured(config: Config, provider: Provider): boolean {
  return provider.oauth ? clientOf(config, provider) !== undefined : true;
}

/**
 * Returns the OAuth client at a provider.
 * @throws AppError service_unavailable if the installation has none
 */
export function requireClient(config: Config, provider: Provider): OAuthClient {
  const client = clientOf(config, provider);
  if (client) return client;
  const [id, secret] = provider.oauth?.clientSettings ?? ['', ''];
  throw new AppError('service_unavailable', message('connect.no_oauth_client', { provider: provider.name }), {
    fix: message('connect.no_oauth_client.fix', { id, secret }),
  });
}

function clientOf(config: Config, { id, oauth }: Provider): OAuthClient | undefined {
  if (!oauth) return undefined;
  const [clientId, clientSecret] = oauth.clientSettings.map((name) => config[name]);
  if (!clientId || !clientSecret) return undefined;
  const given = config.INTEGRATION_ENDPOINTS?.[id] ?? {};
  return {
    oauth,
    clientId,
    clientSecret,
    authorizeUrl: given.authorize ?? oauth.authorizeUrl,
    tokenUrl: given.token ?? oauth.tokenUrl,
    revokeUrl: oauth.revokeUrl && (given.revoke ?? oauth.revokeUrl),
  };
}

/**
 * Error codes of a token endpoint after which another attempt may succeed. Some providers return refusals with status
 * 200 or 400.
 */
const PASSING = /unavailable|server_error|internal_error|fatal_error|rate_?limit|slow_down|timeout/i;

/**
 * Sends a request to the token endpoint (RFC 6749 section 3.2).
 * @returns the whole answer, which contains an access token
 * @throws ReauthRequired when the grant is no longer valid; Refused for another refusal; Unavailable without a usable
 * answer
 */
export async function requestProviderTokens(
  deps: CallDeps,
  provider: Provider,
  client: OAuthClient,
  grant: Record<string, string>,
): Promise<TokenFields> {
  const { status, fields } = await post(deps, provider, client, { url: client.tokenUrl, form: grant });
  if (status >= 500 || status === 429)
    throw new Unavailable(message('connect.provider_status', { provider: provider.name, status }));
  if (typeof fields.access_token === 'string' && fields.access_token !== '' && status < 300) return fields;
  // HubSpot returns its error code in `status`.
  const code = [fields.error, fields.status].find((value) => typeof value === 'string');
  // An error page of a proxy or a failure of the provider does not mean that the consent has ended.
  if (code === undefined || PASSING.test(code))
    throw new Unavailable(message('connect.provider_status', { provider: provider.name, status }));
  // These codes report an error of Heron's own OAuth client and do not mean that the consent has ended. With a refresh
  // token, any other code means that the grant is invalid.
  const isOurs = /^((invalid|bad|deleted|disabled|unauthorized)_client|invalid_request|unsupported_grant_type)/i.test(
    code,
  );
  if (grant.grant_type === 'refresh_token' && !isOurs)
    throw new ReauthRequired(message('connect.credentials_ended', { provider: provider.name }));
  const shown = code.replace(/[^\w.:-]/g, '').slice(0, 60);
  throw new Refused(message('connect.no_token', { provider: provider.name, code: shown }), status);
}

/** Revokes a token (RFC 7009). @throws Unavailable, Refused */
export async function revokeToken(
  deps: CallDeps,
  provider: Provider,
  client: OAuthClient,
  token: string,
): Promise<void> {
  if (!client.revokeUrl) return;
  const { status } = await post(deps, provider, client, { url: client.revokeUrl, form: { token } });
  // Status 400 means that the token is already invalid.
  if (status >= 300 && status !== 400)
    throw new Unavailable(message('connect.provider_status', { provider: provider.name, status }));
}

/**
 * Sends a form with the client's id and secret, in the form that the provider expects. @throws Unavailable, Refused
 */
async function post(
  { egress, config }: CallDeps,
  provider: Provider,
  client: OAuthClient,
  { url, form }: { url: string; form: Record<string, string> },
): Promise<{ status: number; fields: TokenFields }> {
  const { clientId, clientSecret, oauth } = client;
  const isBasic = oauth.clientAuth === 'basic';
  const body = new URLSearchParams(isBasic ? form : { ...form, client_id: clientId, client_secret: clientSecret });
  const answer = await exchange(egress, provider, {
    method: 'POST',
    url,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      ...(isBasic ? basic(client) : {}),
    },
    body: body.toString(),
    timeoutMs: config.INTEGRATION_TIMEOUT_MS,
    maxResponseBytes: MAX_ANSWER_BYTES,
  });
  const value = parseJson(answer.body.toString('utf8'));
  return { status: answer.status, fields: typeof value === 'object' && value !== null ? (value as TokenFields) : {} };
}

function basic({ clientId, clientSecret }: OAuthClient): Record<string, string> {
  const pair = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}
