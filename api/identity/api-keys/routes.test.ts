import test from 'ava';
import fc from 'fast-check';
import { createRateLimiter } from '../../../lib/rate-limit.ts';
import { createKeyUsage, USAGE_EVERY_MS } from '../../../domain/identity/key-usage.ts';
import { freerLimits } from '../../../domain/platform/key-limits.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { ALL_PERMISSIONS, holds, maskOf, namesOf, PERMISSIONS, PRESETS } from '../../../lib/permissions.ts';
import { routes } from '../../routes.ts';
import { createApiKey, createMailbox, createMember, type Tenant } from '../../../test/harness/factories.ts';
import { basic, CALLBACK, createApplication, createCode, revoke, token } from '../../../test/harness/oauth.ts';
import { assertStatus, call, createWorld, type Answer, type World } from '../../../test/harness/world.ts';
import { assertNowhere } from '../../../test/harness/secrets.ts';

const KEYS = '/v1/api-keys';
let world: World;
test.before(async () => {
  world = await createWorld({ env: { TRUSTED_PROXIES: 'loopback' } });
});
test.after.always(() => world?.close());

const create = (token: string, body: object, headers: Record<string, string> = {}): Promise<Answer> =>
  call(world, 'POST', KEYS, { token, body, headers });
const mailbox = (tenant: Tenant, name: string) =>
  createMailbox(world.deps, tenant.organizationId, `${name}@example.com`);

test('a key is created, shown once, listed without its secret, and works', async (t) => {
  const tenant = await world.tenant();
  const expires = new Date(Date.now() + 86_400_000).toISOString();
  const made = await create(tenant.sessionToken, {
    name: 'CI',
    description: 'for builds',
    permissions: maskOf(['API_KEYS', 'READ_CONTACTS']),
    allowed_ips: ['127.0.0.1', '10.0.0.0/8'],
    rate_limit_per_minute: 120,
    expires_at: expires,
  });
  assertStatus(t, made, 201);
  const { secret, ...key } = made.body;
  t.regex(secret, /^ssk_[\w-]{43}$/);
  t.is(key.key_prefix, secret.slice(0, 6));
  t.is(key.key_suffix, secret.slice(-4));
  t.like(key, {
    user_id: tenant.userId,
    organization_id: tenant.organizationId,
    name: 'CI',
    description: 'for builds',
    status: 'active',
    rate_limit_per_minute: 120,
    allowed_ips: ['127.0.0.1', '10.0.0.0/8'],
    allowed_email_accounts: [],
    expires_at: expires,
    last_used_at: null,
    last_request_ip: null,
  });
  const read = await call(world, 'GET', `${KEYS}/${key.id}`, { token: tenant.sessionToken });
  t.deepEqual(read.body, key);
  assertNowhere(t, await world.deps.db('api_keys').where('id', key.id), [secret]);
  const list = await call(world, 'GET', KEYS, { token: tenant.sessionToken });
  t.deepEqual(list.body.data[0], key);
  assertNowhere(t, list.text, [secret]);
  assertStatus(t, await call(world, 'GET', KEYS, { token: secret }), 200);
  const [audit] = await world.deps.db('audit_logs').where({ organization_id: tenant.organizationId });
  t.like(audit, {
    action: 'create',
    entity_type: 'api_key',
    entity_id: key.id,
    user_id: tenant.userId,
    actor_kind: 'session',
  });
  assertNowhere(t, audit, [secret]);
});

test('the catalogue holds every bit and the presets', async (t) => {
  const { apiKey } = await world.tenant();
  const { body } = await call(world, 'GET', `${KEYS}/permissions`, { token: apiKey });
  t.is(body.permissions.length, PERMISSIONS.length);
  t.deepEqual(body.permissions[0], {
    name: 'READ_EMAILS',
    value: 1,
    description: 'See mailboxes, their settings and health',
    category: 'read',
  });
  t.deepEqual(body.presets, { read_only: 4_329_731, full_access: 8_388_607 });
});

test('full access holds every scope but those that no preset holds, which the description names', (t) => {
  // Clients know the mask of `full_access`. A scope that is added later must be added to the mask or to this list.
  const beyond = namesOf(ALL_PERMISSIONS).filter((name) => !holds(PRESETS.full_access, [name]));
  t.deepEqual(beyond, [
    'READ_RUNS',
    'WRITE_RUNS',
    'EXECUTE_RUNS',
    'SEND_DIRECT_EMAIL',
    'SEND_INBOX_REPLY',
    'WRITE_EVENTS',
    'MANAGE_MAILBOX_PROVISIONING',
    'MANAGE_ACQUISITION',
  ]);
  const { description = '' } = routes.find(({ operationId }) => operationId === 'apiKeys.listPermissions')!;
  t.deepEqual(
    beyond.filter((name) => !description.includes(`\`${name}\``)),
    [],
  );
  // Bit 31 is the sign of a 32-bit integer, so no permission may use it.
  t.true(ALL_PERMISSIONS < 2 ** 31);
});

test('faults of a new key are all named', async (t) => {
  const tenant = await world.tenant();
  const other = await world.tenant();
  const foreign = await mailbox(other, 'foreign');
  const answer = await create(tenant.sessionToken, {
    name: 'Bad',
    permissions: ALL_PERMISSIONS + 1,
    allowed_ips: ['10.0.0.1', '10.0.0.0/33', 'example.com', '10.1'],
    allowed_email_accounts: [foreign, 'junk'],
    expires_at: '2020-01-01T00:00:00Z',
  });
  assertStatus(t, answer, 400);
  t.deepEqual(answer.body.problems.map((problem: { path: string }) => problem.path).sort(), [
    'body.allowed_email_accounts.0',
    'body.allowed_email_accounts.1',
    'body.allowed_ips.1',
    'body.allowed_ips.2',
    'body.allowed_ips.3',
    'body.expires_at',
    'body.permissions',
  ]);
  const shape = await create(tenant.sessionToken, { name: 'x'.repeat(256), permissions: 1.5, secret: 'mine' });
  t.deepEqual(shape.body.problems.map((problem: { path: string }) => problem.path).sort(), [
    'body.name',
    'body.permissions',
    'body.secret',
  ]);
  assertStatus(t, await create(tenant.sessionToken, { name: 'x'.repeat(255), permissions: 0 }), 201);
});

test('the list pages newest first; a bad limit means the default, a bad cursor is refused', async (t) => {
  const tenant = await world.tenant();
  for (let i = 0; i < 4; i += 1) await create(tenant.sessionToken, { name: `key ${i}`, permissions: 1 });
  const names: string[] = [];
  let cursor = '';
  do {
    const page = await call(world, 'GET', `${KEYS}?limit=2&cursor=${cursor}`, { token: tenant.apiKey });
    t.true(page.body.data.length <= 2);
    names.push(...page.body.data.map((key: { name: string }) => key.name));
    cursor = page.body.pagination.next_cursor ?? '';
    t.is(page.body.pagination.has_more, cursor !== '');
  } while (cursor);
  t.deepEqual(names, ['key 3', 'key 2', 'key 1', 'key 0', 'test']);
  for (const limit of ['0', '101', 'many', '-1', '1.5', '']) {
    const page = await call(world, 'GET', `${KEYS}?limit=${limit}`, { token: tenant.apiKey });
    t.is(page.status, 200, limit);
    t.is(page.body.data.length, 5);
  }
  assertStatus(t, await call(world, 'GET', `${KEYS}?cursor=junk`, { token: tenant.apiKey }), 400);
  const {
    body: { pagination },
  } = await call(world, 'GET', `${KEYS}?limit=1`, { token: tenant.apiKey });
  const parts = JSON.parse(Buffer.from(pagination.next_cursor, 'base64url').toString()) as unknown[];
  const forged = Buffer.from(JSON.stringify([...parts.slice(0, -1), 'no id'])).toString('base64url');
  assertStatus(t, await call(world, 'GET', `${KEYS}?cursor=${forged}`, { token: tenant.apiKey }), 400);
});

test('revoking stores the reason, is final, and ends the key within a second', async (t) => {
  const tenant = await world.tenant();
  const { body: key } = await create(tenant.sessionToken, { name: 'Doomed', permissions: maskOf(['API_KEYS']) });
  t.is((await call(world, 'GET', KEYS, { token: key.secret })).status, 200, 'cached as good now');
  const revoke = (query = '') => call(world, 'DELETE', `${KEYS}/${key.id}${query}`, { token: tenant.sessionToken });
  const revoked = await revoke('?reason=leaked');
  assertStatus(t, revoked, 200);
  t.deepEqual(revoked.body, { status: 'revoked', revoked_keys: 0 });
  const after = await eventually(async () => {
    const answer = await call(world, 'GET', KEYS, { token: key.secret });
    return answer.status !== 200 && answer;
  }, 10_000);
  assertStatus(t, after, 401);
  t.is(after.body.code, 'unauthorized');
  assertStatus(t, await revoke('?reason=again'), 200);
  const read = await call(world, 'GET', `${KEYS}/${key.id}`, { token: tenant.sessionToken });
  t.like(read.body, { status: 'revoked', revoked_reason: 'leaked', revoked_reason_code: 'words' });
  t.truthy(read.body.revoked_at);
  const other = await create(tenant.sessionToken, { name: 'Other', permissions: 1 });
  await call(world, 'DELETE', `${KEYS}/${other.body.id}`, { token: tenant.sessionToken });
  t.is(
    (await call(world, 'GET', `${KEYS}/${other.body.id}`, { token: tenant.sessionToken })).body.revoked_reason,
    'Revoked by user',
  );
  const actions = await world.deps
    .db('audit_logs')
    .where({ organization_id: tenant.organizationId, entity_id: key.id })
    .orderBy('id')
    .select('action');
  t.deepEqual(
    actions.map((row) => row.action),
    ['create', 'revoke'],
  );
});

test('a key takes the keys along that it made, and those that these made; an empty reason is none', async (t) => {
  const tenant = await world.tenant();
  const body = { name: 'Child', permissions: maskOf(['API_KEYS']) };
  const { body: first } = await create(tenant.sessionToken, body);
  const { body: second } = await create(first.secret, body);
  const { body: third } = await create(second.secret, body);
  const { body: other } = await create(tenant.sessionToken, body);
  const list = await call(world, 'GET', KEYS, { token: tenant.sessionToken });
  const makers = Object.fromEntries(
    list.body.data.map((key: { id: string; made_by_key_id: string | null }) => [key.id, key.made_by_key_id]),
  );
  t.deepEqual(
    [first, second, third, other].map(({ id }) => makers[id]),
    [null, first.id, second.id, null],
  );
  const revoked = await call(world, 'DELETE', `${KEYS}/${first.id}?reason=`, { token: tenant.sessionToken });
  assertStatus(t, revoked, 200);
  t.deepEqual(revoked.body, { status: 'revoked', revoked_keys: 2 });
  const read = async (id: string) => (await call(world, 'GET', `${KEYS}/${id}`, { token: tenant.sessionToken })).body;
  t.like(await read(first.id), { status: 'revoked', revoked_reason: 'Revoked by user' });
  for (const { id } of [second, third])
    t.like(await read(id), {
      status: 'revoked',
      revoked_reason: 'The key that created it was revoked',
      revoked_reason_code: 'revoked.with_key',
    });
  t.like(await read(other.id), { status: 'active' });
  const again = await call(world, 'DELETE', `${KEYS}/${first.id}`, { token: tenant.sessionToken });
  t.deepEqual(again.body, { status: 'revoked', revoked_keys: 0 });
});

test('keys that the token of an application made end with its grant, and with the application', async (t) => {
  const tenant = await world.tenant();
  const body = { name: 'Child', permissions: maskOf(['READ_CONTACTS', 'API_KEYS']) };
  const scene = async () => {
    const client = await createApplication(world.deps, tenant.organizationId);
    const { code, verifier } = await createCode(world.deps, tenant, client, { scopes: ['API_KEYS', 'READ_CONTACTS'] });
    const given = await token(
      world,
      { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: CALLBACK },
      basic(client),
    );
    assertStatus(t, given, 200);
    const { body: key } = await create(given.body.access_token, body);
    const { body: child } = await create(key.secret, body);
    t.like(key, { made_by_application_id: client.id, made_by_key_id: null });
    return { client, token: given.body.access_token as string, keys: [key, child] };
  };
  const statuses = async (keys: { id: string }[]) =>
    Promise.all(
      keys.map(async ({ id }) => (await world.deps.db('api_keys').where({ id }).first('status')).status as string),
    );
  const [ended, deleted, kept] = [await scene(), await scene(), await scene()];
  assertStatus(t, await revoke(world, { token: ended.token }, basic(ended.client)), 200);
  assertStatus(
    t,
    await call(world, 'DELETE', `/v1/oauth/applications/${deleted.client.id}`, { token: tenant.sessionToken }),
    204,
  );
  t.deepEqual(await statuses(ended.keys), ['revoked', 'revoked']);
  t.deepEqual(await statuses(deleted.keys), ['revoked', 'revoked']);
  t.deepEqual(await statuses(kept.keys), ['active', 'active']);
});

test('a key past its expiry still reads active and authenticates nothing', async (t) => {
  const clock = new ManualClock();
  const timed = await createWorld({ clock });
  t.teardown(() => timed.close());
  const tenant = await timed.tenant();
  const made = await call(timed, 'POST', KEYS, {
    token: tenant.apiKey,
    body: {
      name: 'Short',
      permissions: maskOf(['API_KEYS']),
      expires_at: new Date(clock.now().getTime() + 60_000).toISOString(),
    },
  });
  assertStatus(t, await call(timed, 'GET', KEYS, { token: made.body.secret }), 200);
  clock.advance(60_000);
  t.is((await call(timed, 'GET', KEYS, { token: made.body.secret })).status, 401, 'also while it is cached');
  t.is((await call(timed, 'GET', `${KEYS}/${made.body.id}`, { token: tenant.apiKey })).body.status, 'active');
});

test('allowed_ips holds against the address behind a trusted proxy, and against nothing a client claims', async (t) => {
  const tenant = await world.tenant();
  const { body } = await create(tenant.sessionToken, {
    name: 'Office',
    permissions: ALL_PERMISSIONS,
    allowed_ips: ['203.0.113.7', '10.1.0.0/16', '2001:db8::/32'],
  });
  const from = (address: string) =>
    call(world, 'GET', KEYS, { token: body.secret, headers: { 'x-forwarded-for': address } }).then(
      (answer) => answer.status,
    );
  t.is(await from('203.0.113.7'), 200);
  t.is(await from('10.1.255.255'), 200);
  t.is(await from('2001:db8::1'), 200);
  t.is(await from('203.0.113.8'), 403);
  t.is(await from('10.2.0.0'), 403);
  t.is(await from('203.0.113.7, 198.51.100.1'), 403, 'only the hop next to the proxy counts');

  const direct = await createWorld();
  t.teardown(() => direct.close());
  const stranger = await direct.tenant();
  const { apiKey } = await createApiKey(direct.deps, stranger.organizationId, stranger.userId, {
    allowedIps: ['203.0.113.7'],
  });
  t.is(
    (await call(direct, 'GET', KEYS, { token: apiKey, headers: { 'x-forwarded-for': '203.0.113.7' } })).status,
    403,
    'no proxy is trusted here',
  );
});

test('a key is held to its own rate, with Retry-After, and to the default of 60', async (t) => {
  const clock = new ManualClock(new Date('2026-03-02T09:00:00Z'));
  const limited = await createWorld({ limiter: createRateLimiter(clock) });
  t.teardown(() => limited.close());
  const tenant = await limited.tenant();
  for (const [set, expected] of [
    [3, 3],
    [0, 60],
  ] as const) {
    const { apiKey } = await createApiKey(limited.deps, tenant.organizationId, tenant.userId, { ratePerMinute: set });
    const statuses = [];
    for (let i = 0; i <= expected; i += 1)
      statuses.push((await call(limited, 'GET', `${KEYS}/permissions`, { token: apiKey })).status);
    t.deepEqual(statuses, [...Array<number>(expected).fill(200), 429]);
    const refused = await call(limited, 'GET', `${KEYS}/permissions`, { token: apiKey });
    t.is(refused.body.code, 'rate_limit_exceeded');
    const retryAfter = Number(refused.headers.get('retry-after'));
    t.is(refused.body.retry_after, retryAfter);
    t.true(retryAfter > 55 && retryAfter <= 60, String(retryAfter));
    clock.advance(retryAfter * 1000);
    t.is((await call(limited, 'GET', `${KEYS}/permissions`, { token: apiKey })).status, 200, 'Retry-After is true');
  }
});

test('an Idempotency-Key replays the same secret byte for byte; another body is a conflict', async (t) => {
  const tenant = await world.tenant();
  const body = { name: 'Once', permissions: 1 };
  const headers = { 'idempotency-key': 'create-once' };
  const first = await create(tenant.apiKey, body, headers);
  const second = await create(tenant.apiKey, body, headers);
  assertStatus(t, second, 201);
  t.is(second.text, first.text);
  t.is(second.headers.get('idempotent-replayed'), 'true');
  const changed = await create(tenant.apiKey, { ...body, name: 'Twice' }, headers);
  assertStatus(t, changed, 409);
  const stored = await world.deps.db('idempotency_keys').where({ organization_id: tenant.organizationId }).first();
  assertNowhere(t, stored, [first.body.secret]);
});

test('simultaneous creates with one Idempotency-Key make one key', async (t) => {
  const tenant = await world.tenant();
  const body = { name: 'Race', permissions: 1 };
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => create(tenant.apiKey, body, { 'idempotency-key': 'race' })),
  );
  t.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([201]));
  t.is(new Set(answers.map((answer) => answer.text)).size, 1);
  const rows = await world.deps.db('api_keys').where({ organization_id: tenant.organizationId, name: 'Race' });
  t.is(rows.length, 1);
});

test('a key makes no key that may do more than itself', async (t) => {
  const tenant = await world.tenant();
  const [one, two] = [await mailbox(tenant, 'one'), await mailbox(tenant, 'two')];
  const soon = new Date(Date.now() + 3600_000);
  const { apiKey } = await createApiKey(world.deps, tenant.organizationId, tenant.userId, {
    permissions: maskOf(['API_KEYS', 'READ_CONTACTS']),
    allowedIps: ['127.0.0.0/8'],
    allowedMailboxes: [one],
    expiresAt: soon,
    ratePerMinute: 0,
  });
  const within = {
    name: 'Child',
    permissions: maskOf(['READ_CONTACTS']),
    allowed_ips: ['127.0.0.1'],
    allowed_email_accounts: [one],
    expires_at: soon.toISOString(),
  };
  assertStatus(t, await create(apiKey, within), 201);
  for (const [field, value] of [
    ['permissions', maskOf(['READ_CONTACTS', 'WRITE_CONTACTS'])],
    ['allowed_ips', undefined],
    ['allowed_ips', ['127.0.0.0/7']],
    ['allowed_ips', ['127.0.0.1', '10.0.0.1']],
    ['allowed_email_accounts', undefined],
    ['allowed_email_accounts', [one, two]],
    ['expires_at', undefined],
    ['expires_at', new Date(soon.getTime() + 1).toISOString()],
    ['rate_limit_per_minute', 61],
  ] as const) {
    const answer = await create(apiKey, { ...within, [field]: value });
    t.is(answer.status, 403, `${field} ${String(value)}`);
    t.true(answer.body.message.includes(field), answer.body.message);
  }
});

test('a key cannot raise its own rate, nor that of another beyond its own', async (t) => {
  const tenant = await world.tenant();
  const slow = await createApiKey(world.deps, tenant.organizationId, tenant.userId, { ratePerMinute: 0 });
  const { body: other } = await create(tenant.sessionToken, {
    name: 'Other',
    permissions: 1,
    rate_limit_per_minute: 5,
  });
  const rate = (id: string, limit: number) =>
    call(world, 'PATCH', `${KEYS}/${id}`, { token: slow.apiKey, body: { rate_limit_per_minute: limit } });
  t.is((await rate(slow.apiKeyId, 61)).status, 403, 'the default is 60');
  assertStatus(t, await rate(slow.apiKeyId, 60), 200);
  assertStatus(t, await rate(other.id, 61), 403);
  assertStatus(t, await rate(other.id, 0), 200);
  assertStatus(t, await rate(slow.apiKeyId, 10), 200);
  t.is((await rate(slow.apiKeyId, 0)).status, 403, 'back to the default is a rise');
});

test('a person makes no key beyond their role, and changes none that is', async (t) => {
  const tenant = await world.tenant();
  await world.deps
    .db('roles')
    .where({ organization_id: tenant.organizationId, name: 'Viewer' })
    .update({ permissions: ['manage_api_keys', 'view_contacts'] });
  const manager = await createMember(world.deps, tenant, 'Viewer');
  const allowed = maskOf(['API_KEYS', 'READ_CONTACTS', 'READ_CRM']);
  assertStatus(t, await create(manager.sessionToken, { name: 'k', permissions: allowed }), 201);
  const refused = await create(manager.sessionToken, { name: 'k', permissions: ALL_PERMISSIONS });
  assertStatus(t, refused, 403);
  t.true(refused.body.message.includes('SEND_CAMPAIGNS'), refused.body.message);
  const { body: strong } = await create(tenant.sessionToken, {
    name: 'Strong',
    permissions: ALL_PERMISSIONS,
    allowed_ips: ['10.0.0.1'],
  });
  const edit = (body: object) => call(world, 'PATCH', `${KEYS}/${strong.id}`, { token: manager.sessionToken, body });
  t.is((await edit({ allowed_ips: [] })).status, 403, 'else they could open it to themselves');
  assertStatus(t, await edit({ name: 'Renamed' }), 200);
  t.is((await edit({ permissions: allowed })).status, 200, 'narrower is fine');
});

test('a range passes for narrower only when every address of it is allowed', (t) => {
  const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));
  const ranges = fc
    .tuple(octets, fc.integer({ min: 0, max: 32 }))
    .map(([parts, bits]) => ({ first: start(parts, bits), bits }));
  const text = ({ first, bits }: { first: number; bits: number }) =>
    `${[24, 16, 8, 0].map((shift) => Math.floor(first / 2 ** shift) % 256).join('.')}/${bits}`;
  const last = ({ first, bits }: { first: number; bits: number }) => first + 2 ** (32 - bits) - 1;
  const nested = fc
    .tuple(ranges, ranges)
    .map(([a, b]) => [a, { first: start(octetsOf(a.first), b.bits), bits: b.bits }] as const);
  fc.assert(
    fc.property(fc.oneof(fc.tuple(ranges, ranges), nested), ([outer, inner]) => {
      const everyAddress = inner.first >= outer.first && last(inner) <= last(outer);
      const limits = (ip: string) => ({
        allowed_ips: [ip],
        allowed_email_accounts: [],
        expires_at: null,
        rate_limit_per_minute: 0,
      });
      t.deepEqual(freerLimits(limits(text(outer)), limits(text(inner))), everyAddress ? [] : ['allowed_ips']);
    }),
    { numRuns: 500 },
  );
  t.pass();
});

function octetsOf(address: number): number[] {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256);
}

function start(parts: readonly number[], bits: number): number {
  const address = parts.reduce((sum, part) => sum * 256 + part, 0);
  return address - (address % 2 ** (32 - bits));
}

test('the last use of a key is written at most once a minute, and on stopping', async (t) => {
  const clock = new ManualClock(new Date('2026-03-02T09:00:00Z'));
  const tenant = await world.tenant();
  const usage = createKeyUsage({ ...world.deps, clock });
  const stored = () => world.deps.db('api_keys').where('id', tenant.apiKeyId).first('last_used_at', 'last_request_ip');
  const at = (ms: number) => new Date(new Date('2026-03-02T09:00:00Z').getTime() + ms);

  usage.touch(tenant.apiKeyId, '192.0.2.1');
  t.deepEqual(await stored(), { last_used_at: null, last_request_ip: null });
  await usage.writeDue();
  t.deepEqual(await stored(), { last_used_at: at(0), last_request_ip: '192.0.2.1' });
  clock.advance(USAGE_EVERY_MS - 1);
  usage.touch(tenant.apiKeyId, '192.0.2.2');
  await usage.writeDue();
  t.deepEqual(await stored(), { last_used_at: at(0), last_request_ip: '192.0.2.1' }, 'not again within the minute');
  clock.advance(1);
  await usage.writeDue();
  t.deepEqual(await stored(), { last_used_at: at(USAGE_EVERY_MS - 1), last_request_ip: '192.0.2.2' });
  clock.advance(10);
  usage.touch(tenant.apiKeyId, '192.0.2.3');
  await usage.flush();
  t.deepEqual(await stored(), { last_used_at: at(USAGE_EVERY_MS + 10), last_request_ip: '192.0.2.3' });
});

test('a request notes its key, but a refused one does not', async (t) => {
  const tenant = await world.tenant();
  const { apiKey, apiKeyId } = await createApiKey(world.deps, tenant.organizationId, tenant.userId, {
    allowedIps: ['203.0.113.7'],
  });
  await call(world, 'GET', KEYS, { token: apiKey, headers: { 'x-forwarded-for': '198.51.100.1' } });
  await world.actors.flush();
  t.is((await world.deps.db('api_keys').where('id', apiKeyId).first()).last_used_at, null);
  await call(world, 'GET', KEYS, { token: apiKey, headers: { 'x-forwarded-for': '203.0.113.7' } });
  await world.actors.flush();
  t.is((await world.deps.db('api_keys').where('id', apiKeyId).first()).last_request_ip, '203.0.113.7');
});
