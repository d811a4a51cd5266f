import type { Columns } from '../../../db/rows.ts';
import { across } from '../../../db/across.ts';
import { safeEqual, sha256 } from '../../../lib/crypto.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { OAuthError } from './errors.ts';
import { message, type Message } from '../../../messages/index.ts';

const CLIENT_ID = /^sscid_[A-Za-z0-9_-]{1,64}$/;

/** An application as an OAuth client. Most are public clients that registered themselves. */
export type Client = Columns<
  'oauth_applications',
  | 'id'
  | 'organization_id'
  | 'client_id'
  | 'client_secret_hash'
  | 'self_registered'
  | 'name'
  | 'description'
  | 'logo_url'
  | 'website_url'
  | 'redirect_uris'
  | 'scopes'
>;

/** Credentials that a client sent: HTTP Basic, or fields of the form. */
export interface ClientCredentials {
  clientId: string;
  /** Secret of the client. Undefined if the request contains none. */
  secret: string | undefined;
  basic: boolean;
}

/** Returns true for a text with the format of a client id. Other texts are not looked up in the database. */
export function isClientId(text: string): boolean {
  return CLIENT_ID.test(text);
}

/** Returns the application with a client id, of any organization. */
export async function findClient({ db }: Pick<Deps, 'db'>, clientId: string): Promise<Client | undefined> {
  if (!isClientId(clientId)) return undefined;
  return across(db, 'application')
    .table('oauth_applications')
    .where({ client_id: clientId })
    .first(
      'id',
      'organization_id',
      'client_id',
      'client_secret_hash',
      'self_registered',
      'name',
      'description',
      'logo_url',
      'website_url',
      'redirect_uris',
      'scopes',
    ) as Promise<Client | undefined>;
}

/** Returns the workspace that created an application, or null for a client that registered itself. */
export async function findOwner(
  { db }: Pick<Deps, 'db'>,
  { organization_id: id }: Pick<Client, 'organization_id'>,
): Promise<{ id: string; name: string } | null> {
  if (id === null) return null;
  return (await across(db, 'application').table('organizations').where({ id }).first('id', 'name')) ?? null;
}

/**
 * Returns the client credentials in a request to the token or revocation endpoint. A request must use exactly one
 * method of authentication (RFC 6749, section 2.3).
 * @param authorization the Authorization header, if any
 * @throws OAuthError invalid_client (missing or unreadable), invalid_request (two methods together)
 */
export function readClientCredentials(
  authorization: string | undefined,
  form: { client_id?: string | undefined; client_secret?: string | undefined },
): ClientCredentials {
  if (authorization === undefined || authorization === '') {
    if (form.client_id === undefined) throw refusedClient(message('oauth.no_client'), { basic: false });
    return { clientId: form.client_id, secret: form.client_secret, basic: false };
  }
  const [, encoded] = /^Basic +([A-Za-z0-9+/=_-]+)$/i.exec(authorization) ?? [];
  if (encoded === undefined) throw refusedClient(message('oauth.not_basic'), { basic: true });
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  const [clientId, secret] =
    colon < 0 ? [undefined, undefined] : [formDecoded(pair.slice(0, colon)), formDecoded(pair.slice(colon + 1))];
  if (clientId === undefined || secret === undefined) throw refusedClient(message('oauth.not_basic'), { basic: true });
  if (form.client_secret !== undefined) throw new OAuthError('invalid_request', message('oauth.two_ways'));
  if (form.client_id !== undefined && form.client_id !== clientId)
    throw new OAuthError('invalid_request', message('oauth.other_client'));
  return { clientId, secret, basic: true };
}

/**
 * Authenticates a client: a confidential client by its secret, compared in constant time. A public client has no
 * secret.
 * @throws OAuthError invalid_client, the same for an unknown client and a wrong secret
 */
export function assertAuthentic<C extends Pick<Client, 'client_secret_hash'>>(
  client: C | undefined,
  { secret, basic }: ClientCredentials,
): asserts client is C {
  const expected = client?.client_secret_hash ?? null;
  const fits =
    expected === null ? client !== undefined && secret === undefined : safeEqual(expected, sha256(secret ?? ''));
  if (!fits) throw refusedClient(message('oauth.client_refused'), { basic });
}

/**
 * Returns the error for a refused client. `basic` is true if the client sent an Authorization header; the error then
 * names the scheme.
 */
function refusedClient(said: Message, { basic }: { basic: boolean }): OAuthError {
  return new OAuthError(
    'invalid_client',
    said,
    basic ? { headers: { 'WWW-Authenticate': 'Basic realm="heron", charset="UTF-8"' } } : {},
  );
}

/**
 * Decodes the client id or the secret of Basic credentials, because clients form-encode both (RFC 6749, section 2.3.1).
 */
function formDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
