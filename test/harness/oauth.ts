import { createHash } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { approveAuthorization, readAuthorizationRequest } from '../../domain/identity/oauth/authorize.ts';
import { SELF_REGISTERED_MAX } from '../../domain/identity/scopes.ts';
import type { TestDeps } from './database.ts';
import type { Ctx, Deps } from '../../domain/platform/kernel/context.ts';
import { newSecret, SECRET_PREFIX, sha256 } from '../../lib/crypto.ts';
import { newId } from '../../lib/ids.ts';
import { ALL_PERMISSIONS, type Permission } from '../../lib/permissions.ts';
import type { Tenant } from './factories.ts';
import { call, type Answer, type World } from './world.ts';

/** Redirect URI of the tests' clients; nothing listens there. */
export const CALLBACK = 'https://client.example.com/callback';

export interface TestClient {
  id: string;
  clientId: string;
  /** Client secret. Empty for a public client. */
  secret: string;
}

/** Creates a confidential application directly in the database; by default it may have every scope. */
export async function createApplication(
  deps: Pick<TestDeps, 'db' | 'clock'>,
  organizationId: string,
  fields: Record<string, unknown> = {},
): Promise<TestClient> {
  const secret = newSecret(SECRET_PREFIX.clientSecret);
  const client = await insertClient(deps, {
    organization_id: organizationId,
    client_secret_hash: sha256(secret),
    scopes: ALL_PERMISSIONS,
    ...fields,
  });
  return { ...client, secret };
}

/** Creates a self-registered public client directly in the database. */
export async function createPublicClient(
  deps: Pick<TestDeps, 'db' | 'clock'>,
  fields: Record<string, unknown> = {},
): Promise<TestClient> {
  return {
    ...(await insertClient(deps, { self_registered: true, scopes: SELF_REGISTERED_MAX, ...fields })),
    secret: '',
  };
}

async function insertClient(
  { db, clock }: Pick<TestDeps, 'db' | 'clock'>,
  fields: Record<string, unknown>,
): Promise<{ id: string; clientId: string }> {
  const now = clock.now();
  const row = {
    id: newId(),
    client_id: newSecret(SECRET_PREFIX.clientId),
    name: 'Client',
    redirect_uris: [CALLBACK],
    created_at: now,
    updated_at: now,
    ...fields,
  };
  await db('oauth_applications').insert(row);
  return { id: row.id, clientId: row.client_id };
}

/** Returns a PKCE pair. */
export function pkce(verifier = newSecret()): { verifier: string; challenge: string } {
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** Returns a context in which a person acts in their tenant's workspace, for calling domain functions directly. */
export function personCtx(deps: Deps, tenant: { userId: string; organizationId: string }): Ctx {
  return {
    ...deps,
    requestId: 'test',
    actor: {
      kind: 'session',
      userId: tenant.userId,
      organizationId: tenant.organizationId,
      permissions: 0,
      orgPermissions: new Set(),
      isOwner: false,
      isPlatformAdmin: false,
      allowedMailboxes: null,
      ipAddress: '127.0.0.1',
      userAgent: 'test',
    },
  };
}

/**
 * Approves a client's request as a person, through the domain functions. Returns the URL to which the browser is
 * redirected.
 * @param options.query additional or changed parameters of the authorization request
 */
export async function approve(
  deps: Deps,
  tenant: { userId: string; organizationId: string },
  client: TestClient,
  options: { scopes?: readonly Permission[]; query?: Record<string, string | readonly string[]> } = {},
): Promise<URL> {
  const request = await readAuthorizationRequest(deps, {
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: CALLBACK,
    ...options.query,
  });
  if (request.kind !== 'request') throw new Error(`the request was refused: ${JSON.stringify(request)}`);
  const { location } = await approveAuthorization(personCtx(deps, tenant), request, options.scopes ?? request.scopes);
  return new URL(location);
}

/** Approves a request. Returns the authorization code and its PKCE verifier. */
export async function createCode(
  deps: Deps,
  tenant: { userId: string; organizationId: string },
  client: TestClient,
  options: Parameters<typeof approve>[3] = {},
): Promise<{ code: string; verifier: string }> {
  const { verifier, challenge } = pkce();
  const query = { code_challenge: challenge, code_challenge_method: 'S256', ...options.query };
  return { code: (await approve(deps, tenant, client, { ...options, query })).searchParams.get('code')!, verifier };
}

/** Approves a request and exchanges the code. Returns an access token of a public client with these scopes. */
export async function createAccessToken(
  world: { deps: TestDeps; url: string },
  tenant: Tenant,
  scopes?: readonly Permission[],
): Promise<{ accessToken: string; refreshToken: string; client: TestClient }> {
  const client = await createPublicClient(world.deps);
  const { code, verifier } = await createCode(world.deps, tenant, client, scopes ? { scopes } : {});
  const answer = await token(world, {
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    redirect_uri: CALLBACK,
    client_id: client.clientId,
  });
  if (answer.status !== 200) throw new Error(`no token: ${answer.text}`);
  return { accessToken: answer.body.access_token, refreshToken: answer.body.refresh_token, client };
}

/** Calls the token endpoint. A field whose value is a list is sent several times. */
export function token(
  world: { url: string },
  form: Record<string, string | readonly string[]>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return call(world, 'POST', '/v1/oauth/token', { body: formOf(form), headers });
}

/** Calls the revocation endpoint. */
export function revoke(
  world: { url: string },
  form: Record<string, string | readonly string[]>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return call(world, 'POST', '/v1/oauth/revoke', { body: formOf(form), headers });
}

function formOf(form: Record<string, string | readonly string[]>): URLSearchParams {
  return new URLSearchParams(
    Object.entries(form).flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, one])),
  );
}

/** Returns an OAuth HTTP Basic header: both parts are form-encoded first. */
export function basic(client: { clientId: string; secret: string }): Record<string, string> {
  return {
    authorization: `Basic ${Buffer.from(`${encodeURIComponent(client.clientId)}:${encodeURIComponent(client.secret)}`).toString('base64')}`,
  };
}

/** Checks that an answer is a refusal of RFC 6749: status, error code, description, and no caching. */
export function refused(t: ExecutionContext, answer: Answer, status: number, error: string, what?: string): void {
  t.is(`${answer.status} ${answer.body?.error}`, `${status} ${error}`, what ?? answer.text);
  t.is(typeof answer.body.error_description, 'string');
  t.regex(answer.body.error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  t.is(answer.body.code, undefined);
  t.is(answer.headers.get('cache-control'), 'no-store');
}

/** Person, application and a valid code exchange. */
export interface Flow {
  tenant: Tenant;
  client: TestClient;
  /** Form fields of the valid token request. */
  form: Record<string, string>;
}

/** Creates a tenant, its client, and a code that the client may exchange. */
export async function createFlow(
  where: World,
  options: { client?: TestClient; scopes?: readonly Permission[]; query?: Record<string, string> } = {},
): Promise<Flow> {
  const tenant = await where.tenant();
  const client = options.client ?? (await createPublicClient(where.deps));
  const { code, verifier } = await createCode(where.deps, tenant, client, options);
  return {
    tenant,
    client,
    form: {
      grant_type: 'authorization_code',
      code,
      code_verifier: verifier,
      redirect_uri: CALLBACK,
      client_id: client.clientId,
    },
  };
}
