import test from 'ava';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { assertStatus, call, createWorld, type Answer, type World } from '../../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

const GOOD = { client_name: 'Editor', redirect_uris: ['http://localhost/cb', 'com.example.editor:/cb'] };
const register = (body: unknown, where = world, headers: Record<string, string> = {}): Promise<Answer> =>
  call(where, 'POST', '/v1/oauth/register', { body, headers });

test('a client registers itself, without a credential and without access', async (t) => {
  const before = Math.floor(Date.now() / 1000);
  const { status, body, headers } = await register({
    ...GOOD,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  });
  t.is(status, 201);
  t.is(headers.get('cache-control'), 'no-store');
  t.regex(body.client_id, /^sscid_[A-Za-z0-9_-]{43}$/);
  t.true(body.client_id_issued_at >= before && body.client_id_issued_at <= Math.ceil(Date.now() / 1000));
  t.deepEqual(body.redirect_uris, GOOD.redirect_uris);
  t.is(body.token_endpoint_auth_method, 'none');
  t.deepEqual(body.grant_types, ['authorization_code', 'refresh_token']);
  t.deepEqual(body.response_types, ['code']);
  t.is(body.client_secret, undefined);
  const scopes = body.scope.split(' ') as string[];
  t.true(scopes.includes('read_contacts'));
  t.false(scopes.includes('send_campaigns') || scopes.includes('api_keys'));
  const row = await world.deps.db('oauth_applications').where({ client_id: body.client_id }).first();
  t.is(row.organization_id, null);
  t.is(row.client_secret_hash, null);
});

test('unknown metadata is ignored; known metadata is kept', async (t) => {
  const { status, body } = await register({
    ...GOOD,
    scope: 'read_emails',
    client_uri: 'https://editor.example.com',
    logo_uri: 'https://editor.example.com/l.png',
    jwks: { keys: [] },
    software_id: 'x',
    contacts: ['a@example.com'],
  });
  t.is(status, 201);
  t.deepEqual(
    [body.scope, body.client_uri, body.logo_uri, body.client_name],
    ['read_emails', 'https://editor.example.com', 'https://editor.example.com/l.png', 'Editor'],
  );
});

test('metadata that is not supported is replaced, and the answer is what was registered', async (t) => {
  const { status, body } = await register({
    ...GOOD,
    token_endpoint_auth_method: 'client_secret_post',
    grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    response_types: ['code', 'token'],
    scope: 'read_emails offline_access send_campaigns api_keys',
    client_name: 'Bank\u202etxt',
    client_uri: 'javascript:alert(1)',
    logo_uri: 'http://x.example.com/l.png',
  });
  t.is(status, 201);
  t.like(body, {
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    scope: 'read_emails',
    client_name: 'Bank txt',
  });
  t.deepEqual([body.client_secret, body.client_uri, body.logo_uri], [undefined, undefined, undefined]);
  const row = await world.deps.db('oauth_applications').where({ client_id: body.client_id }).first();
  t.deepEqual([row.name, row.website_url, row.logo_url, row.client_secret_hash], ['Bank txt', '', '', null]);
});

test('a registration without one known scope may request what one without scopes may', async (t) => {
  const all = (await register(GOOD)).body.scope;
  for (const scope of ['', null, 'openid profile', 'send_campaigns'])
    t.is((await register({ ...GOOD, scope })).body.scope, all, String(scope));
});

test('a name that nobody could read is replaced, a long one is cut', async (t) => {
  const name = async (client_name: unknown) => (await register({ ...GOOD, client_name })).body.client_name;
  t.deepEqual(
    [await name('\u202e\u200b'), await name(''), await name(null), await name('x'.repeat(256))],
    ['Unnamed application', 'Unnamed application', 'Unnamed application', 'x'.repeat(255)],
  );
});

test('editors register their schemes', async (t) => {
  const redirect_uris = ['cursor://anysphere.cursor-retrieval/oauth/callback', 'vscode://publisher.extension/cb'];
  const { status, body } = await register({ ...GOOD, redirect_uris });
  t.is(status, 201);
  t.deepEqual(body.redirect_uris, redirect_uris);
});

test('every unsafe redirect URI is named at once, in the form of RFC 7591', async (t) => {
  for (const [fields, error, named] of [
    [{ redirect_uris: undefined }, 'invalid_redirect_uri', ['redirect_uris']],
    [{ redirect_uris: [] }, 'invalid_redirect_uri', ['redirect_uris']],
    [{ redirect_uris: 'http://localhost/cb' }, 'invalid_redirect_uri', ['redirect_uris']],
    [
      { redirect_uris: ['http://localhost/cb', 'javascript:alert(1)', 'http://app.example.com/'] },
      'invalid_redirect_uri',
      ['redirect_uris.1', 'redirect_uris.2'],
    ],
    [{ client_name: 5, scope: ['read_emails'] }, 'invalid_client_metadata', ['client_name', 'scope']],
  ] as const) {
    const { status, body } = await register({ ...GOOD, ...fields });
    t.is(`${status} ${body.error}`, `400 ${error}`, JSON.stringify(fields));
    for (const name of named)
      t.true(body.error_description.includes(`${name}: `), `${name} in: ${body.error_description}`);
    t.is(body.code, undefined);
  }
  const unreadable = await call(world, 'POST', '/v1/oauth/register', {
    body: '{"client_name":',
    headers: { 'content-type': 'application/json' },
  });
  t.is(`${unreadable.status} ${unreadable.body.error}`, '400 invalid_client_metadata');
});

test('registrations of one address are limited per hour, wherever it claims to come from', async (t) => {
  const clock = new ManualClock(new Date('2026-03-02T12:00:00Z'));
  const limited = await createWorld({ clock, env: { OAUTH_REGISTRATIONS_PER_HOUR: '3' } });
  t.teardown(() => limited.close());
  for (let index = 0; index < 3; index += 1)
    assertStatus(t, await register(GOOD, limited, { 'x-forwarded-for': `192.0.2.${index}` }), 201);
  const { status, headers, body } = await register(GOOD, limited);
  t.is(status, 429);
  t.is(body.error, 'temporarily_unavailable');
  t.is(headers.get('retry-after'), '3600');
  clock.advance(3600_000);
  assertStatus(t, await register(GOOD, limited), 201);
});

test('behind a proxy the address it names counts, an IPv6 one with its whole network', async (t) => {
  const limited = await createWorld({ env: { OAUTH_REGISTRATIONS_PER_HOUR: '1', TRUSTED_PROXIES: '127.0.0.1' } });
  t.teardown(() => limited.close());
  const from = async (address: string) => (await register(GOOD, limited, { 'x-forwarded-for': address })).status;
  t.is(await from('192.0.2.1'), 201);
  t.is(await from('192.0.2.2'), 201);
  t.is(await from('192.0.2.1'), 429);
  t.is(await from('2001:db8::1'), 201);
  t.is(await from('2001:db8::2'), 429);
  t.is(await from('2001:db8:0:1::1'), 201);
});
