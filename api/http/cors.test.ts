import test from 'ava';
import { assertStatus, call, createWorld, type World } from '../../test/harness/world.ts';
import { routes } from '../routes.ts';
import { fullPath } from './route.ts';

const LISTED = 'https://dashboard.example';
const FOREIGN = 'https://inspector.example';

let world: World;
test.before(async () => {
  world = await createWorld({ env: { CORS_ALLOW_ORIGINS: LISTED } });
});
test.after.always(() => world?.close());

const preflight = (path: string, method: string, origin: string) =>
  call(world, 'OPTIONS', path, {
    headers: {
      origin,
      'access-control-request-method': method.toUpperCase(),
      'access-control-request-headers': 'authorization, content-type, mcp-protocol-version',
    },
  });

test('pages of any site may call OAuth metadata, registration, tokens and MCP, and nothing else', async (t) => {
  const open: string[] = [];
  for (const spec of routes) {
    const path = fullPath(spec).replace(/:\w+/g, 'x');
    const { status, headers } = await preflight(path, spec.method, FOREIGN);
    if (headers.get('access-control-allow-origin') === null) continue;
    t.deepEqual([status, headers.get('access-control-allow-origin')], [204, '*'], spec.operationId);
    open.push(spec.operationId);
  }
  t.deepEqual(open.toSorted(), [
    'mcp.message',
    'mcp.messageV1',
    'oauth.getResourceMetadata',
    'oauth.getResourceMetadata.mcp',
    'oauth.getResourceMetadata.v1mcp',
    'oauth.getServerMetadata',
    'oauth.getServerMetadata.mcp',
    'oauth.getServerMetadata.v1mcp',
    'oauth.issueToken',
    'oauth.registerClient',
    'oauth.revokeToken',
  ]);
});

test('a preflight of the MCP endpoint allows the headers of its clients, and no cookies', async (t) => {
  for (const path of ['/mcp', '/mcp/', '/v1/mcp']) {
    const { status, headers } = await preflight(path, 'POST', FOREIGN);
    t.is(status, 204);
    const allowed = headers.get('access-control-allow-headers')!.toLowerCase().split(',');
    for (const name of ['authorization', 'content-type', 'mcp-session-id', 'mcp-protocol-version', 'last-event-id'])
      t.true(allowed.includes(name), name);
    t.is(headers.get('access-control-allow-credentials'), null);
    t.true(headers.get('access-control-allow-methods')!.split(',').includes('POST'));
  }
});

test('a page of another site finds its way from the 401 to a registered client', async (t) => {
  const from = { origin: FOREIGN };
  const readable = (headers: Headers) =>
    headers.get('access-control-allow-origin') === '*' && headers.get('access-control-allow-credentials') === null;
  const refused = await call(world, 'POST', '/mcp', { headers: from, body: {} });
  assertStatus(t, refused, 401);
  t.true(readable(refused.headers));
  const exposed = refused.headers.get('access-control-expose-headers')!.split(',');
  for (const name of ['WWW-Authenticate', 'Mcp-Session-Id', 'RateLimit', 'Retry-After']) t.true(exposed.includes(name));
  t.truthy(refused.headers.get('www-authenticate'));
  const metadata = await call(world, 'GET', '/.well-known/oauth-protected-resource/mcp', { headers: from });
  assertStatus(t, metadata, 200);
  t.true(readable(metadata.headers));
  const registered = await call(world, 'POST', '/v1/oauth/register', {
    headers: from,
    body: { redirect_uris: [`${FOREIGN}/callback`] },
  });
  assertStatus(t, registered, 201);
  t.true(readable(registered.headers));
  const token = await call(world, 'POST', '/v1/oauth/token', {
    headers: from,
    body: new URLSearchParams({ grant_type: 'authorization_code', code: 'x' }),
  });
  t.true(token.status >= 400);
  t.true(readable(token.headers));
});

test('a listed origin may call every route; the answers to others stay closed', async (t) => {
  const { apiKey } = await world.tenant();
  const read = async (origin: string) =>
    (await call(world, 'GET', '/v1/contacts', { token: apiKey, headers: { origin } })).headers;
  t.is((await read(LISTED)).get('access-control-allow-origin'), LISTED);
  t.is((await read(LISTED)).get('vary'), 'Origin');
  for (const origin of [FOREIGN, 'null', 'https://dashboard.example.evil.example'])
    t.is((await read(origin)).get('access-control-allow-origin'), null, origin);
  t.is((await preflight('/v1/contacts', 'POST', LISTED)).headers.get('access-control-allow-origin'), LISTED);
});
