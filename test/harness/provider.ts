import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose';
import { newSecret } from '../../lib/crypto.ts';

/** User of the mail provider. */
export interface ProviderPerson {
  email: string;
  /** The only access token of the person that is valid now. */
  accessToken: string;
  refreshToken: string;
}

/** Authorization server of a mail provider on 127.0.0.1. It validates requests by RFC 6749 and RFC 7636. */
export interface MailProviderServer {
  url: string;
  clientId: string;
  clientSecret: string;
  /** Returns the settings that make Heron use this server as the provider. */
  env(
    prefix: 'GOOGLE' | 'MICROSOFT',
    servers: Record<'smtp' | 'imap', { host: string; port: number }>,
  ): Record<string, string>;
  /** Simulates the person's consent in the browser at this URL. Returns the URL to which the browser is redirected. */
  consent(authorizeUrl: string, email: string, claims?: Record<string, unknown>): string;
  /** Calls the listener with every new access token, so that a mail server accepts it in place of the old one. */
  onToken(listener: (person: ProviderPerson) => void): void;
  /** Number of refresh requests so far. */
  readonly refreshes: number;
  /** Maximum number of concurrent refresh requests so far. */
  readonly refreshesAtOnce: number;
  /** Sets the answer to refreshes and revocations from now on; undefined restores the normal one. */
  refuse(answer: { status: number; body: Record<string, unknown> } | undefined): void;
  /** Revoked refresh tokens in order. */
  readonly revoked: readonly string[];
  /** Delays the answer to a refresh by this time (ms). */
  delay(ms: number): void;
  /** Lifetime (seconds) of new access tokens. */
  lifetime: number;
  /** Answer to requests for the list of send-as addresses. */
  sendAs: Record<string, unknown>[];
  close(): Promise<void>;
}

interface Grant {
  email: string;
  challenge: string;
  redirect: string;
  nonce: string;
  claims: Record<string, unknown>;
}

/** Starts the authorization server of a mail provider. */
export async function startMailProvider(): Promise<MailProviderServer> {
  const codes = new Map<string, Grant>();
  const people = new Map<string, ProviderPerson>();
  const listeners: ((person: ProviderPerson) => void)[] = [];
  const [clientId, clientSecret] = ['heron-client', newSecret()];
  let refused: { status: number; body: Record<string, unknown> } | undefined;
  const revoked: string[] = [];
  let delayMs = 0;
  let refreshes = 0;
  let open = 0;
  let refreshesAtOnce = 0;

  const give = (email: string, refreshToken: string): ProviderPerson => {
    const person = { email, accessToken: newSecret('at-'), refreshToken };
    people.set(refreshToken, person);
    for (const listener of listeners) listener(person);
    return person;
  };

  const token = async (form: URLSearchParams): Promise<{ status: number; body: Record<string, unknown> }> => {
    if (form.get('client_id') !== clientId || form.get('client_secret') !== clientSecret)
      return { status: 401, body: { error: 'invalid_client' } };
    if (form.get('grant_type') === 'authorization_code') {
      const grant = codes.get(form.get('code') ?? '');
      codes.delete(form.get('code') ?? '');
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      if (!grant || grant.challenge !== challenge || grant.redirect !== form.get('redirect_uri'))
        return { status: 400, body: { error: 'invalid_grant', error_description: 'The code is not good' } };
      const person = give(grant.email, newSecret('rt-'));
      const idToken = await new SignJWT({
        email: grant.email,
        email_verified: true,
        preferred_username: grant.email,
        nonce: grant.nonce,
        ...grant.claims,
      })
        .setProtectedHeader({ alg: 'HS256' })
        .setAudience((grant.claims.aud as string | undefined) ?? clientId)
        .setExpirationTime('1h')
        .sign(Buffer.from(clientSecret));
      return {
        status: 200,
        body: {
          access_token: person.accessToken,
          refresh_token: person.refreshToken,
          expires_in: server.lifetime,
          id_token: idToken,
          token_type: 'Bearer',
        },
      };
    }
    refreshes += 1;
    open += 1;
    refreshesAtOnce = Math.max(refreshesAtOnce, open);
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    open -= 1;
    if (refused) return refused;
    const person = people.get(form.get('refresh_token') ?? '');
    if (!person)
      return { status: 400, body: { error: 'invalid_grant', error_description: 'Token has been expired or revoked.' } };
    return {
      status: 200,
      body: {
        access_token: give(person.email, person.refreshToken).accessToken,
        expires_in: server.lifetime,
        token_type: 'Bearer',
      },
    };
  };

  const revoke = (form: URLSearchParams): { status: number; body: Record<string, unknown> } => {
    if (refused) return refused;
    const given = form.get('token') ?? '';
    if (!people.delete(given)) return { status: 400, body: { error: 'invalid_token' } };
    revoked.push(given);
    return { status: 200, body: {} };
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const reply = ({ status, body }: { status: number; body: Record<string, unknown> }) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (pathname === '/send-as') {
      const known = [...people.values()].some(
        ({ accessToken }) => request.headers.authorization === `Bearer ${accessToken}`,
      );
      return void reply(known ? { status: 200, body: { sendAs: server.sendAs } } : { status: 401, body: {} });
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    reply(pathname === '/revoke' ? revoke(form) : await token(form));
  };

  const http = createServer((request, response) => void answer(request, response));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const server: MailProviderServer = {
    url,
    clientId,
    clientSecret,
    env: (prefix, { smtp, imap }) => ({
      [`${prefix}_MAILBOX_CLIENT_ID`]: clientId,
      [`${prefix}_MAILBOX_CLIENT_SECRET`]: clientSecret,
      [`${prefix}_MAILBOX_ENDPOINTS`]: JSON.stringify({
        authorize: `${url}/authorize`,
        token: `${url}/token`,
        sendAs: `${url}/send-as`,
        revoke: `${url}/revoke`,
        smtp: { ...smtp, security: 'none' },
        imap: { ...imap, security: 'none' },
      }),
    }),
    consent(authorizeUrl, email, claims = {}) {
      const asked = new URL(authorizeUrl).searchParams;
      if (asked.get('client_id') !== clientId || asked.get('response_type') !== 'code')
        throw new Error('not our client');
      if (asked.get('code_challenge_method') !== 'S256') throw new Error('no PKCE');
      const code = newSecret('code-');
      const redirect = asked.get('redirect_uri')!;
      codes.set(code, { email, challenge: asked.get('code_challenge')!, redirect, nonce: asked.get('nonce')!, claims });
      return `${redirect}?${new URLSearchParams({ code, state: asked.get('state')! }).toString()}`;
    },
    onToken: (listener) => void listeners.push(listener),
    get refreshes() {
      return refreshes;
    },
    get refreshesAtOnce() {
      return refreshesAtOnce;
    },
    revoked,
    refuse: (given) => void (refused = given),
    delay: (ms) => void (delayMs = ms),
    lifetime: 3600,
    sendAs: [],
    async close() {
      http.closeAllConnections();
      await new Promise((done) => http.close(done));
    },
  };
  return server;
}
