import test from 'ava';
import { ALL_PERMISSIONS, maskOf } from '../../../lib/permissions.ts';
import { createApiKey } from '../../../test/harness/factories.ts';
import { basic, CALLBACK, createAccessToken, createCode, token } from '../../../test/harness/oauth.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';
import { assertNowhere } from '../../../test/harness/secrets.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

const GOOD = { name: 'Reports', redirect_uris: [CALLBACK, 'http://127.0.0.1:3000/cb'] };
const FIELDS = [
  'allowed_webhook_domains',
  'client_id',
  'created_at',
  'description',
  'id',
  'logo_url',
  'name',
  'organization_id',
  'redirect_uris',
  'scopes',
  'updated_at',
  'webhook_events',
  'webhook_url',
  'website_url',
];

test('an application is created, read, listed, changed and deleted; its secret is shown once', async (t) => {
  const { sessionToken, organizationId } = await world.tenant();
  const created = await call(world, 'POST', '/v1/oauth/applications', {
    token: sessionToken,
    body: {
      ...GOOD,
      description: 'Monthly',
      logo_url: 'https://reports.example.com/l.png',
      website_url: 'https://reports.example.com',
      scopes: ['read_contacts', 'send_campaigns'],
      allowed_webhook_domains: ['.example.com'],
      webhook_url: 'https://hooks.example.com/in/the-receivers-secret',
      webhook_events: ['campaign.started'],
    },
  });
  assertStatus(t, created, 201);
  t.is(created.headers.get('cache-control'), 'no-store');
  const { client_secret: secret, ...application } = created.body;
  t.regex(secret, /^sscs_[A-Za-z0-9_-]{43}$/);
  t.regex(application.client_id, /^sscid_/);
  t.deepEqual(Object.keys(application).sort(), FIELDS);
  t.is(application.organization_id, organizationId);
  t.deepEqual(application.scopes, ['send_campaigns', 'read_contacts']);

  const path = `/v1/oauth/applications/${application.id}`;
  t.deepEqual((await call(world, 'GET', path, { token: sessionToken })).body, application);
  t.deepEqual((await call(world, 'GET', '/v1/oauth/applications', { token: sessionToken })).body.data, [application]);

  const changed = await call(world, 'PATCH', path, {
    token: sessionToken,
    body: { name: 'Reporting', scopes: ['read_contacts'], webhook_url: '' },
  });
  assertStatus(t, changed, 200);
  t.deepEqual(
    { ...changed.body, updated_at: '' },
    { ...application, name: 'Reporting', scopes: ['read_contacts'], webhook_url: '', updated_at: '' },
  );
  assertStatus(t, await call(world, 'DELETE', path, { token: sessionToken }), 204);
  assertStatus(t, await call(world, 'GET', path, { token: sessionToken }), 404);
  assertStatus(t, await call(world, 'PATCH', path, { token: sessionToken, body: { name: 'x' } }), 404);

  const audit = await world.deps.db('audit_logs').where({ entity_id: application.id }).orderBy('id');
  t.deepEqual(
    audit.map(({ action }) => action),
    ['create', 'update', 'delete'],
  );
  assertNowhere(t, audit, [secret, 'the-receivers-secret']);
  t.deepEqual(audit[1].changes.webhook_host, { from: 'hooks.example.com', to: '' });
});

test('an application that names no scopes may read', async (t) => {
  const { sessionToken } = await world.tenant();
  const { status, body } = await call(world, 'POST', '/v1/oauth/applications', { token: sessionToken, body: GOOD });
  t.is(status, 201);
  t.deepEqual(body.scopes, [
    'read_emails',
    'read_campaigns',
    'read_contacts',
    'read_templates',
    'read_analytics',
    'read_crm',
  ]);
  t.deepEqual(
    [body.description, body.logo_url, body.webhook_url, body.webhook_events, body.allowed_webhook_domains],
    ['', '', '', [], []],
  );
});

test('repeating a create with its Idempotency-Key repeats the secret', async (t) => {
  const { apiKey } = await world.tenant();
  const send = () =>
    call(world, 'POST', '/v1/oauth/applications', { token: apiKey, body: GOOD, headers: { 'idempotency-key': 'one' } });
  const [first, second] = [await send(), await send()];
  t.deepEqual(second.body, first.body);
  t.is(second.headers.get('idempotent-replayed'), 'true');
  t.is((await call(world, 'GET', '/v1/oauth/applications', { token: apiKey })).body.data.length, 1);
});

test('every fault of an application is named at once', async (t) => {
  const { sessionToken } = await world.tenant();
  const body = {
    name: 'A\u202eB',
    redirect_uris: [CALLBACK, 'http://app.example.com/cb', 'com.example.app:/cb', 'https://x.example.com/#'],
    logo_url: 'javascript:alert(1)',
    website_url: 'http://x.example.com',
    scopes: ['read_contacts', 'READ_CONTACTS', 'fly'],
    allowed_webhook_domains: ['example.com', 'https://x.example.com', '.com'],
    webhook_url: 'https://other.example.net/in',
    webhook_events: ['campaign.started', 'webhook.test', 'x'],
  };
  const expected = [
    'body.name',
    'body.redirect_uris.1',
    'body.redirect_uris.2',
    'body.redirect_uris.3',
    'body.logo_url',
    'body.website_url',
    'body.scopes.1',
    'body.scopes.2',
    'body.allowed_webhook_domains.1',
    'body.allowed_webhook_domains.2',
    'body.webhook_url',
    'body.webhook_events.1',
    'body.webhook_events.2',
  ];
  const created = await call(world, 'POST', '/v1/oauth/applications', { token: sessionToken, body });
  assertStatus(t, created, 400);
  t.deepEqual(created.body.problems.map(({ path }: { path: string }) => path).sort(), expected.sort());
  const {
    body: { id },
  } = await call(world, 'POST', '/v1/oauth/applications', { token: sessionToken, body: GOOD });
  const changed = await call(world, 'PATCH', `/v1/oauth/applications/${id}`, { token: sessionToken, body });
  t.deepEqual(changed.body.problems.map(({ path }: { path: string }) => path).sort(), expected);
  for (const empty of [{ redirect_uris: [] }, { scopes: [] }, { name: ' ' }]) {
    t.is(
      (await call(world, 'PATCH', `/v1/oauth/applications/${id}`, { token: sessionToken, body: empty })).status,
      400,
      JSON.stringify(empty),
    );
  }
});

test('a webhook URL is judged with the domains that are there already', async (t) => {
  const { sessionToken } = await world.tenant();
  const {
    body: { id },
  } = await call(world, 'POST', '/v1/oauth/applications', {
    token: sessionToken,
    body: { ...GOOD, allowed_webhook_domains: ['hooks.example.com'] },
  });
  const change = async (body: object) =>
    (await call(world, 'PATCH', `/v1/oauth/applications/${id}`, { token: sessionToken, body })).status;
  t.is(await change({ webhook_url: 'https://other.example.com/in' }), 400);
  t.is(await change({ webhook_url: 'https://hooks.example.com/in' }), 200);
  t.is(await change({ allowed_webhook_domains: [] }), 400);
  t.is(await change({ allowed_webhook_domains: [], webhook_url: '' }), 200);
});

test('a rotated secret works at once and the old one no more; tokens stay', async (t) => {
  const tenant = await world.tenant();
  const { body: application } = await call(world, 'POST', '/v1/oauth/applications', {
    token: tenant.sessionToken,
    body: { ...GOOD, scopes: ['read_contacts'] },
  });
  const client = { id: application.id, clientId: application.client_id, secret: application.client_secret };
  const { code, verifier } = await createCode(world.deps, tenant, client);
  const first = await token(
    world,
    { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: CALLBACK },
    basic(client),
  );
  assertStatus(t, first, 200);
  const rotated = await call(world, 'POST', `/v1/oauth/applications/${application.id}/rotate-secret`, {
    token: tenant.sessionToken,
  });
  assertStatus(t, rotated, 200);
  t.not(rotated.body.client_secret, client.secret);
  assertStatus(t, await call(world, 'GET', '/v1/contacts', { token: first.body.access_token }), 200);
  const form = { grant_type: 'refresh_token', refresh_token: first.body.refresh_token };
  assertStatus(t, await token(world, form, basic(client)), 401);
  assertStatus(t, await token(world, form, basic({ ...client, secret: rotated.body.client_secret })), 200);
});

test('deleting an application ends every token of it, in every workspace', async (t) => {
  const owner = await world.tenant();
  const guest = await world.tenant();
  const { body: application } = await call(world, 'POST', '/v1/oauth/applications', {
    token: owner.sessionToken,
    body: { ...GOOD, scopes: ['read_contacts'] },
  });
  const client = { id: application.id, clientId: application.client_id, secret: application.client_secret };
  const { code, verifier } = await createCode(world.deps, guest, client);
  const { body } = await token(
    world,
    { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: CALLBACK },
    basic(client),
  );
  assertStatus(t, await call(world, 'GET', '/v1/contacts', { token: body.access_token }), 200);
  t.is(
    (await call(world, 'DELETE', `/v1/oauth/applications/${application.id}`, { token: guest.sessionToken })).status,
    404,
  );
  t.is(
    (await call(world, 'DELETE', `/v1/oauth/applications/${application.id}`, { token: owner.sessionToken })).status,
    204,
  );
  world.actors.forget();
  assertStatus(t, await call(world, 'GET', '/v1/contacts', { token: body.access_token }), 401);
  t.is(
    (await token(world, { grant_type: 'refresh_token', refresh_token: body.refresh_token }, basic(client))).body.error,
    'invalid_client',
  );
});

test('a key or token makes no application, and no key, that may do more than itself', async (t) => {
  const tenant = await world.tenant();
  const { apiKey } = await createApiKey(world.deps, tenant.organizationId, tenant.userId, {
    permissions: maskOf(['API_KEYS', 'READ_CONTACTS']),
  });
  const { body: wide } = await call(world, 'POST', '/v1/oauth/applications', {
    token: tenant.sessionToken,
    body: { ...GOOD, scopes: ['read_contacts', 'write_contacts'] },
  });
  const client = { scopes: ALL_PERMISSIONS };
  await world.deps.db('oauth_applications').where({ id: wide.id }).update(client);
  const { code, verifier } = await createCode(
    world.deps,
    tenant,
    { id: wide.id, clientId: wide.client_id, secret: wide.client_secret },
    { scopes: ['API_KEYS', 'READ_CONTACTS'] },
  );
  const {
    body: { access_token: accessToken },
  } = await token(world, {
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    redirect_uri: CALLBACK,
    client_id: wide.client_id,
    client_secret: wide.client_secret,
  });

  for (const credential of [apiKey, accessToken] as string[]) {
    const send = (method: string, path: string, body?: unknown) =>
      call(world, method, path, { token: credential, ...(body ? { body } : {}) });
    t.is(
      (await send('POST', '/v1/oauth/applications', { ...GOOD, scopes: ['read_contacts', 'write_contacts'] })).status,
      403,
    );
    const made = await send('POST', '/v1/oauth/applications', GOOD);
    t.deepEqual(made.body.scopes, ['read_contacts'], 'the reading scopes, as far as it has them');
    t.is(
      (await send('PATCH', `/v1/oauth/applications/${made.body.id}`, { scopes: ['read_contacts', 'send_campaigns'] }))
        .status,
      403,
    );
    assertStatus(t, await send('PATCH', `/v1/oauth/applications/${made.body.id}`, { redirect_uris: [CALLBACK] }), 200);
    t.is(
      (await send('PATCH', `/v1/oauth/applications/${wide.id}`, { redirect_uris: ['https://evil.example.com/'] }))
        .status,
      403,
    );
    // These changes are refused, because the URL receives the events of every workspace that granted the application
    // access.
    for (const receiver of [
      { webhook_url: '' },
      { webhook_events: ['campaign.reply_received'] },
      { allowed_webhook_domains: ['evil.example.com'] },
    ]) {
      const path = (id: string) => `/v1/oauth/applications/${id}`;
      t.is((await send('PATCH', path(wide.id), receiver)).status, 403, 'it may do more than the credential');
      t.is((await send('PATCH', path(made.body.id), receiver)).status, 403, 'the credential lacks WEBHOOKS');
    }
    assertStatus(t, await send('POST', `/v1/oauth/applications/${wide.id}/rotate-secret`), 403);
    assertStatus(t, await send('PATCH', `/v1/oauth/applications/${wide.id}`, { name: 'Renamed' }), 200);
    assertStatus(t, await send('POST', '/v1/api-keys', { name: 'k', permissions: maskOf(['WRITE_CONTACTS']) }), 403);
    assertStatus(t, await send('POST', '/v1/api-keys', { name: 'k', permissions: maskOf(['READ_CONTACTS']) }), 201);
  }
  const audit = await world.deps
    .db('audit_logs')
    .where({ organization_id: tenant.organizationId, actor_kind: 'oauth', entity_type: 'api_key' })
    .first();
  t.truthy(audit.oauth_grant_id);

  // Revokes the grant and the key. Both stay cached for up to a second, but this check reads them from the database.
  await world.deps
    .db('oauth_grants')
    .where({ organization_id: tenant.organizationId })
    .update({ revoked_at: world.deps.clock.now() });
  const late = await call(world, 'POST', '/v1/api-keys', { token: accessToken, body: { name: 'k', permissions: 1 } });
  assertStatus(t, late, 401);
});

test('applications that registered themselves belong to no workspace', async (t) => {
  const tenant = await world.tenant();
  const { client } = await createAccessToken(world, tenant);
  t.deepEqual((await call(world, 'GET', '/v1/oauth/applications', { token: tenant.sessionToken })).body.data, []);
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/rotate-secret'],
  ] as const) {
    t.is(
      (await call(world, method, `/v1/oauth/applications/${client.id}${path}`, { token: tenant.sessionToken })).status,
      404,
    );
  }
});

test('the list pages', async (t) => {
  const { sessionToken } = await world.tenant();
  const ids: string[] = [];
  for (let index = 0; index < 5; index += 1)
    ids.unshift((await call(world, 'POST', '/v1/oauth/applications', { token: sessionToken, body: GOOD })).body.id);
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body }: { body: { data: { id: string }[]; pagination: { next_cursor: string | null } } } = await call(
      world,
      'GET',
      `/v1/oauth/applications?limit=2&cursor=${cursor}`,
      { token: sessionToken },
    );
    seen.push(...body.data.map(({ id }) => id));
    cursor = body.pagination.next_cursor;
  }
  t.deepEqual(seen, ids);
  for (const query of ['limit=0', 'limit=101', 'limit=x', 'cursor=nonsense'])
    t.is((await call(world, 'GET', `/v1/oauth/applications?${query}`, { token: sessionToken })).status, 400, query);
});

test('the metadata says where everything is, under every address clients look at', async (t) => {
  const base = world.deps.config.API_PUBLIC_URL;
  for (const path of ['', '/mcp', '/v1/mcp']) {
    const server = await call(world, 'GET', `/.well-known/oauth-authorization-server${path}`);
    assertStatus(t, server, 200);
    t.like(server.body, {
      issuer: base,
      authorization_endpoint: `${world.deps.config.APP_URL}/oauth/authorize`,
      token_endpoint: `${base}/v1/oauth/token`,
      registration_endpoint: `${base}/v1/oauth/register`,
      revocation_endpoint: `${base}/v1/oauth/revoke`,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      authorization_response_iss_parameter_supported: true,
    });
    t.is(server.body.scopes_supported.length, 31);
    const resource = await call(world, 'GET', `/.well-known/oauth-protected-resource${path}`);
    t.like(resource.body, {
      resource: `${base}${path}`,
      authorization_servers: [base],
      bearer_methods_supported: ['header'],
    });
    t.false(resource.body.scopes_supported.includes('send_campaigns'));
  }
});
