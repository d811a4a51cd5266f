import test from 'ava';
import { EVENT_TYPES } from '../../../domain/platform/kernel/events.ts';
import { createEgress } from '../../../lib/egress/index.ts';
import { newId } from '../../../lib/ids.ts';
import { maskOf } from '../../../lib/permissions.ts';
import { message } from '../../../messages/index.ts';
import { createApiKey, createMember, type Tenant } from '../../../test/harness/factories.ts';
import { createApplication } from '../../../test/harness/oauth.ts';
import { createDelivery } from '../../../test/harness/webhook-rows.ts';
import { createEndpoint } from '../../../test/harness/webhooks.ts';
import { assertStatus, call, createWorld, type Answer, type World } from '../../../test/harness/world.ts';
import { assertNowhere } from '../../../test/harness/secrets.ts';
import { render } from '../../../messages/render.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

const HOOK = 'http://hooks.example.com/in?token=sesame';

const create = (
  tenant: Tenant,
  body: object = {},
  headers: Record<string, string> = {},
  at: World = world,
): Promise<Answer> => call(at, 'POST', '/v1/webhooks', { token: tenant.apiKey, body: { url: HOOK, ...body }, headers });
const paths = (answer: Answer): string[] =>
  (answer.body.problems ?? []).map((problem: { path: string }) => problem.path).sort();
const audits = (organizationId: string) =>
  world.deps.db('audit_logs').where({ organization_id: organizationId, entity_type: 'webhook' }).orderBy('id');

test('an endpoint is registered unverified, with a secret that is shown once, listed, and deleted with its history', async (t) => {
  const tenant = await world.tenant();
  const { apiKey: token, organizationId } = tenant;
  const created = await create(tenant, {
    url: ` ${HOOK} `,
    description: ' CRM ',
    event_types: ['contact.created', 'contact.created', 'campaign.email_sent'],
  });
  assertStatus(t, created, 201);
  const { secret, ...endpoint } = created.body;
  t.regex(secret, /^whsec_[A-Za-z0-9_-]{43}$/);
  t.like(endpoint, {
    organization_id: organizationId,
    url: HOOK,
    description: 'CRM',
    event_types: ['contact.created', 'campaign.email_sent'],
    enabled: true,
    verified_at: null,
    ownership_confirmed: false,
    consecutive_failures: 0,
    last_failure_reason: null,
  });
  const listed = await call(world, 'GET', '/v1/webhooks', { token });
  t.deepEqual(listed.body, { endpoints: [endpoint], event_types: Object.keys(EVENT_TYPES) });
  const stored = await world.deps.db('webhook_secrets').where({ endpoint_id: endpoint.id });
  t.is(stored.length, 1);
  assertNowhere(t, stored, [secret]);

  await createDelivery(world.deps, organizationId, endpoint.id);
  assertStatus(t, await call(world, 'DELETE', `/v1/webhooks/${endpoint.id}`, { token }), 204);
  assertStatus(t, await call(world, 'DELETE', `/v1/webhooks/${endpoint.id}`, { token }), 404);
  t.deepEqual(await world.deps.db('webhook_deliveries').where({ endpoint_id: endpoint.id }), []);
  t.deepEqual(await world.deps.db('webhook_secrets').where({ endpoint_id: endpoint.id }), []);
  const log = await audits(organizationId);
  t.deepEqual(
    log.map((row) => row.action),
    ['create', 'delete'],
  );
  t.false(/sesame|whsec_/.test(JSON.stringify(log)), 'neither the secret nor what a URL hides is in the audit log');
});

test('the catalogue says of each event what it is, and no challenge can be subscribed to', async (t) => {
  const tenant = await world.tenant();
  const { body } = await call(world, 'GET', '/v1/webhooks/event-types', { token: tenant.apiKey });
  t.deepEqual(
    body.event_types.map((entry: { type: string }) => entry.type),
    [...Object.keys(EVENT_TYPES), 'webhook.test'],
  );
  t.deepEqual(
    body.event_types.find((entry: { type: string }) => entry.type === 'campaign.email_sent'),
    {
      type: 'campaign.email_sent',
      ...EVENT_TYPES['campaign.email_sent'],
      description: 'The mailbox server accepted a campaign email.',
    },
  );
  const headers = { 'accept-language': 'de' };
  const german = await call(world, 'GET', '/v1/webhooks/event-types', { token: tenant.apiKey, headers });
  t.is(german.body.event_types[0].description, 'Eine Kampagne wurde angelegt.');
  const refused = await create(tenant, { event_types: ['webhook.test'] });
  t.deepEqual([refused.status, paths(refused)], [400, ['body.event_types.0']]);
});

test('every fault of a registration is named at once', async (t) => {
  const tenant = await world.tenant();
  const bad = await create(tenant, {
    url: 'https://user:pw@x.example.com',
    description: 1,
    event_types: ['contact.created', 'nope', 'contact.gone'],
    enabled: 'yes',
    more: 1,
  });
  assertStatus(t, bad, 400);
  t.deepEqual(paths(bad), [
    'body.description',
    'body.enabled',
    'body.event_types.1',
    'body.event_types.2',
    'body.more',
    'body.url',
  ]);
  t.deepEqual(
    bad.body.problems
      .filter(({ path }: { path: string }) => path.startsWith('body.event_types'))
      .map(({ code }: { code: string }) => code),
    ['field.unknown_event', 'field.unknown_event'],
  );
  t.deepEqual(paths(await create(tenant, { url: undefined })), ['body.url']);
  t.deepEqual(paths(await create(tenant, { description: 'a\0b' })), ['body.description']);
  for (const url of [
    '',
    'x',
    '//x.example.com/',
    'ftp://x.example.com',
    `https://x.example.com/${'a'.repeat(2048)}`,
    'https://x.example.com/a b',
  ]) {
    const answer = await create(tenant, { url });
    t.deepEqual([answer.status, paths(answer)], [400, ['body.url']], url.slice(0, 40));
  }
  t.deepEqual((await call(world, 'GET', '/v1/webhooks', { token: tenant.apiKey })).body.endpoints, []);
});

test('without the development setting only https to hosts that are public by name and by address is taken', async (t) => {
  const strict = await createWorld({ env: { ALLOW_UNSAFE_WEBHOOK_URLS: 'false' } });
  t.teardown(() => strict.close());
  const answers: Record<string, string[]> = {
    'public.example.com': ['93.184.216.34'],
    'inside.example.com': ['10.0.0.1'],
    'mixed.example.com': ['93.184.216.34', '127.0.0.1'],
    'metadata.example.com': ['169.254.169.254'],
    'mapped.example.com': ['::ffff:10.0.0.1'],
  };
  const egress = createEgress({ allowUnsafe: false, lookup: async (host) => answers[host] ?? [] });
  t.teardown(() => egress.close());
  Object.assign(strict.deps, { egress });
  const tenant = await strict.tenant();
  const refused = [
    'http://public.example.com/',
    'https://public.example.com:8443/',
    'https://127.0.0.1/',
    'https://0x7f.1/',
    'https://2130706433/',
    'https://[::1]/',
    'https://localhost/',
    'https://printer.local/',
    'https://single/',
    'https://10.1.2.3/',
    'https://169.254.169.254/latest/meta-data',
    'https://[fe80::1]/',
    'https://inside.example.com/',
    'https://mixed.example.com/',
    'https://metadata.example.com/',
    'https://mapped.example.com/',
    'https://nowhere.example.com/',
  ];
  for (const url of refused) {
    const answer = await create(tenant, { url }, {}, strict);
    t.deepEqual([answer.status, paths(answer)], [400, ['body.url']], url);
    t.notRegex(answer.body.problems[0].message, /\d+\.\d+\.\d+\.\d+/, 'no resolved address is told');
  }
  const created = await create(tenant, { url: 'https://public.example.com/hook' }, {}, strict);
  assertStatus(t, created, 201);
  const moved = await call(strict, 'PATCH', `/v1/webhooks/${created.body.id}`, {
    token: tenant.apiKey,
    body: { url: 'https://inside.example.com/' },
  });
  assertStatus(t, moved, 400);
  t.is(
    (await strict.deps.db('webhook_endpoints').where({ id: created.body.id }).first('url')).url,
    'https://public.example.com/hook',
  );
});

test('PATCH replaces: what is omitted falls back, what is unknown changes nothing', async (t) => {
  const tenant = await world.tenant();
  const { body } = await create(tenant, { description: 'CRM', event_types: ['contact.created'], enabled: false });
  const patch = (changes: object) =>
    call(world, 'PATCH', `/v1/webhooks/${body.id}`, { token: tenant.apiKey, body: changes });
  const replaced = await patch({ url: HOOK });
  assertStatus(t, replaced, 200);
  t.like(replaced.body, { description: '', event_types: [], enabled: true });
  t.false('secret' in replaced.body);
  t.deepEqual((await patch({ url: HOOK, event_types: ['contact.deleted', 'contact.updated'] })).body.event_types, [
    'contact.deleted',
    'contact.updated',
  ]);
  t.deepEqual(paths(await patch({ description: 'no url' })), ['body.url']);
  t.deepEqual(paths(await patch({ url: HOOK, event_types: ['nope'] })), ['body.event_types.0']);
  t.deepEqual((await call(world, 'GET', '/v1/webhooks', { token: tenant.apiKey })).body.endpoints[0].event_types, [
    'contact.deleted',
    'contact.updated',
  ]);
});

test('another host has to be verified again; the same host, or anything else, keeps what was proved', async (t) => {
  const tenant = await world.tenant();
  const { id } = await createEndpoint(world.deps, tenant.organizationId, 'http://a.example.com/1');
  const row = () => world.deps.db('webhook_endpoints').where({ id });
  await row().update({
    ownership_confirmed: true,
    consecutive_failures: 3,
    last_failure_at: new Date(),
    last_failure_reason: message('connect.receiver_status', { status: 500 }),
    failing_since: new Date(),
  });
  const patch = async (url: string, rest: object = {}) =>
    (await call(world, 'PATCH', `/v1/webhooks/${id}`, { token: tenant.apiKey, body: { url, ...rest } })).body;
  for (const url of ['http://a.example.com/2', 'http://A.example.com/2?x=1', 'http://a.example.com:80/2']) {
    const same = await patch(url, { event_types: ['contact.created'] });
    t.truthy(same.verified_at, url);
    t.like(same, { ownership_confirmed: true, consecutive_failures: 3 });
  }
  const moved = await patch('http://b.example.com/2');
  t.like(moved, {
    verified_at: null,
    ownership_confirmed: false,
    consecutive_failures: 0,
    last_failure_at: null,
    last_failure_reason: null,
  });
  t.is((await row().first('failing_since')).failing_since, null);
  t.is((await patch('http://b.example.com/3')).verified_at, null);
  await row().update({ verified_at: new Date() });
  t.is((await patch('http://a.example.com/2')).verified_at, null, 'coming back proves nothing');
});

test('switching on what the installation switched off starts the failure count anew', async (t) => {
  const tenant = await world.tenant();
  const { id } = await createEndpoint(world.deps, tenant.organizationId, HOOK);
  const off = {
    enabled: false,
    disabled_reason: message('connect.switched_off', { failures: 40, since: '2026-03-01T12:00:00.000Z' }),
    consecutive_failures: 40,
    failing_since: new Date(),
  };
  await world.deps.db('webhook_endpoints').where({ id }).update(off);
  t.like((await call(world, 'GET', '/v1/webhooks', { token: tenant.apiKey })).body.endpoints[0], {
    enabled: false,
    disabled_reason: render(off.disabled_reason),
    consecutive_failures: 40,
  });
  const on = await call(world, 'PATCH', `/v1/webhooks/${id}`, {
    token: tenant.apiKey,
    body: { url: HOOK, enabled: true },
  });
  t.like(on.body, { enabled: true, disabled_reason: null, consecutive_failures: 0 });
  t.truthy(on.body.verified_at);
});

test('a rotated secret is new, shown once, and repeated for its Idempotency-Key; the old one stays on record', async (t) => {
  const tenant = await world.tenant();
  const { body } = await create(tenant, {}, { 'idempotency-key': 'c1' });
  t.deepEqual((await create(tenant, {}, { 'idempotency-key': 'c1' })).body, body);
  const rotate = (key: string) =>
    call(world, 'POST', `/v1/webhooks/${body.id}/rotate-secret`, {
      token: tenant.apiKey,
      headers: { 'idempotency-key': key },
    });
  const first = await rotate('r1');
  assertStatus(t, first, 200);
  t.deepEqual(Object.keys(first.body), ['secret']);
  t.deepEqual((await rotate('r1')).body, first.body);
  const second = await rotate('r2');
  t.is(new Set([body.secret, first.body.secret, second.body.secret]).size, 3);
  t.is((await world.deps.db('webhook_secrets').where({ endpoint_id: body.id })).length, 3);
  const listed = (await call(world, 'GET', '/v1/webhooks', { token: tenant.apiKey })).text;
  const log = await audits(tenant.organizationId);
  t.deepEqual(
    log.map((row) => row.action),
    ['create', 'rotate_secret', 'rotate_secret'],
  );
  assertNowhere(t, [listed, log], [body.secret, first.body.secret, second.body.secret]);
});

test('secrets replaced long ago go with a later rotation; one replaced lately stays', async (t) => {
  const tenant = await world.tenant();
  const { id } = await createEndpoint(world.deps, tenant.organizationId, HOOK);
  const rotate = () => call(world, 'POST', `/v1/webhooks/${id}/rotate-secret`, { token: tenant.apiKey });
  const secrets = () =>
    world.deps.db('webhook_secrets').where({ endpoint_id: id }).orderBy('id').pluck('id') as Promise<string[]>;
  await rotate();
  const [first, second] = await secrets();
  // Moves the replacement of the secret eight days into the past. The second secret still signs.
  await world.deps
    .db('webhook_secrets')
    .where({ endpoint_id: id })
    .update({ created_at: new Date(Date.now() - 8 * 86_400_000) });
  await rotate();
  const left = await secrets();
  t.false(left.includes(first!));
  t.true(left.includes(second!));
  t.is(left.length, 2);
});

test('a workspace has a limited number of endpoints, however many requests come at once', async (t) => {
  const small = await createWorld({ env: { ORG_WEBHOOK_ENDPOINTS: '3' } });
  t.teardown(() => small.close());
  const tenant = await small.tenant();
  const answers = await Promise.all(Array.from({ length: 8 }, () => create(tenant, {}, {}, small)));
  t.deepEqual(answers.map((answer) => answer.status).sort(), [201, 201, 201, 409, 409, 409, 409, 409]);
  t.is(answers.find((answer) => answer.status === 409)!.body.code, 'conflict');
  t.is((await create(await small.tenant(), {}, {}, small)).status, 201, 'another workspace has its own count');
});

test("endpoints and deliveries of applications are no part of a workspace's own", async (t) => {
  const tenant = await world.tenant();
  const { apiKey: token, organizationId } = tenant;
  const now = new Date();
  const { id: applicationId } = await createApplication(world.deps, organizationId);
  const { id } = await createEndpoint(world.deps, organizationId, HOOK);
  await world.deps.db('webhook_endpoints').where({ id }).update({ application_id: applicationId });
  const deliveryId = await createDelivery(world.deps, organizationId, id, { application_id: applicationId });
  await world.deps.db('webhook_throttle_drops').insert({
    id: newId(),
    organization_id: organizationId,
    endpoint_id: id,
    event_type: 'contact.updated',
    reason: 'endpoint_rate',
    minute: now,
    dropped: 1,
    last_event_id: newId(),
    created_at: now,
    updated_at: now,
  });
  t.deepEqual((await call(world, 'GET', '/v1/webhooks', { token })).body.endpoints, []);
  t.deepEqual((await call(world, 'GET', '/v1/webhooks/deliveries', { token })).body.data, []);
  t.deepEqual((await call(world, 'GET', '/v1/webhooks/throttle-drops', { token })).body.data, []);
  const requests: [string, string, object?][] = [
    ['PATCH', `/v1/webhooks/${id}`, { url: HOOK }],
    ['DELETE', `/v1/webhooks/${id}`],
    ['POST', `/v1/webhooks/${id}/rotate-secret`],
    ['POST', `/v1/webhooks/${id}/verify`],
    ['GET', `/v1/webhooks/${id}/deliveries`],
    ['POST', `/v1/webhooks/deliveries/${deliveryId}/redeliver`],
  ];
  for (const [method, path, body] of requests)
    t.is((await call(world, method, path, { token, ...(body ? { body } : {}) })).status, 404, `${method} ${path}`);
});

test('keys and roles need the scope and the permission', async (t) => {
  const tenant = await world.tenant();
  const key = await createApiKey(world.deps, tenant.organizationId, tenant.userId, {
    permissions: maskOf(['API_KEYS', 'INTEGRATIONS']),
  });
  assertStatus(t, await call(world, 'GET', '/v1/webhooks', { token: key.apiKey }), 403);
  const member = await createMember(world.deps, tenant, 'Member');
  assertStatus(t, await call(world, 'GET', '/v1/webhooks', { token: member.sessionToken }), 403);
  assertStatus(t, await call(world, 'GET', '/v1/webhooks', { token: tenant.sessionToken }), 200);
});
