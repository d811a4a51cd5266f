import test from 'ava';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { ZERO_UUID } from '../../../lib/ids.ts';
import type { Listening } from '../../../lib/listen.ts';
import { createMetrics } from '../../../lib/metrics.ts';
import { ALL_PERMISSIONS, maskOf } from '../../../lib/permissions.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { createApiKey, createMailbox, type KeyOptions, type Tenant } from '../../../test/harness/factories.ts';
import { assertStatus, call, createWorld, type Answer, type World } from '../../../test/harness/world.ts';
import { createRateLimiter } from '../../../lib/rate-limit.ts';
import { startApi } from '../../servers/api.ts';
import { assertNowhere, randomSecret } from '../../../test/harness/secrets.ts';

const KEYS = '/v1/api-keys';
/**
 * Timeout (ms) until a process uses the changed key. Keys are cached for at most a second, but a busy machine may need
 * longer.
 */
const WITHIN = 10_000;
let world: World;
/** A second API server, which shares only the database with the first one. */
let second: Listening;
test.before(async () => {
  world = await createWorld({ env: { TRUSTED_PROXIES: 'loopback' } });
  second = await startApi(world.deps, createMetrics(), { port: 0, strictResponses: true });
});
test.after.always(async () => {
  await second?.close();
  await world?.close();
});

const makeKey = (tenant: Tenant, options: KeyOptions = {}) =>
  createApiKey(world.deps, tenant.organizationId, tenant.userId, options);
const get = (token: string, path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  call(world, 'GET', `${KEYS}${path}`, { token, headers });
const patch = (token: string, id: string, body: object): Promise<Answer> =>
  call(world, 'PATCH', `${KEYS}/${id}`, { token, body });
const remove = (token: string, path: string): Promise<Answer> => call(world, 'DELETE', `${KEYS}${path}`, { token });
const inBoth = (token: string): Promise<number[]> =>
  Promise.all([world, second].map(async (api) => (await call(api, 'GET', `${KEYS}/permissions`, { token })).status));
const problemsOf = (answer: Answer): string[] =>
  answer.body.problems.map((problem: { path: string }) => problem.path).sort();

/** Returns the recorded requests of a key, oldest first. */
async function readLogs(tenant: Tenant, keyId: string): Promise<Record<string, string | number>[]> {
  await world.usage.flush();
  return (await get(tenant.sessionToken, `/${keyId}/logs?limit=200`)).body.data.reverse();
}

test('sent fields change, the others stay', async (t) => {
  const tenant = await world.tenant();
  const { apiKeyId } = await makeKey(tenant, { ratePerMinute: 5, allowedIps: ['127.0.0.1'] });
  const before = (await get(tenant.sessionToken, `/${apiKeyId}`)).body;
  const box = await createMailbox(world.deps, tenant.organizationId, 'one@example.com');
  const edit = { name: 'Renamed', permissions: 3, allowed_email_accounts: [box], rate_limit_per_minute: 0 };
  const changed = await patch(tenant.sessionToken, apiKeyId, edit);
  assertStatus(t, changed, 200);
  t.true(changed.body.updated_at >= before.updated_at);
  t.deepEqual(changed.body, { ...before, ...edit, updated_at: changed.body.updated_at });
  t.deepEqual((await get(tenant.sessionToken, `/${apiKeyId}`)).body, changed.body);
  t.deepEqual((await patch(tenant.sessionToken, apiKeyId, {})).body, changed.body);
  const cleared = await patch(tenant.sessionToken, apiKeyId, { allowed_ips: [], allowed_email_accounts: [] });
  t.like(cleared.body, { allowed_ips: [], allowed_email_accounts: [], name: 'Renamed' });
  const audits = await world.deps.db('audit_logs').where({ entity_id: apiKeyId, action: 'update' }).orderBy('id');
  t.is(audits.length, 2);
  t.deepEqual(audits[0].changes.permissions, { from: ALL_PERMISSIONS, to: 3 });
});

test('faults of a change are all named, and nothing changes', async (t) => {
  const tenant = await world.tenant();
  const { apiKeyId } = await makeKey(tenant);
  const answer = await patch(tenant.sessionToken, apiKeyId, {
    name: 'Half',
    permissions: ALL_PERMISSIONS + 1,
    allowed_ips: ['10.1'],
    allowed_email_accounts: ['junk'],
  });
  assertStatus(t, answer, 400);
  t.deepEqual(problemsOf(answer), ['body.allowed_email_accounts.0', 'body.allowed_ips.0', 'body.permissions']);
  const shape = await patch(tenant.sessionToken, apiKeyId, {
    name: '',
    expires_at: '2999-01-01T00:00:00Z',
    rate_limit_per_minute: -1,
    secret: 'x',
  });
  t.deepEqual(problemsOf(shape), ['body.expires_at', 'body.name', 'body.rate_limit_per_minute', 'body.secret']);
  t.is((await get(tenant.sessionToken, `/${apiKeyId}`)).body.name, 'test');
});

test('a key cannot widen itself, nor turn another into more than itself', async (t) => {
  const tenant = await world.tenant();
  const narrow = await makeKey(tenant, {
    permissions: maskOf(['API_KEYS', 'READ_CONTACTS']),
    allowedIps: ['127.0.0.1'],
  });
  for (const edit of [{ permissions: ALL_PERMISSIONS }, { allowed_ips: [] }, { allowed_ips: ['127.0.0.0/8'] }]) {
    t.is((await patch(narrow.apiKey, narrow.apiKeyId, edit)).status, 403, JSON.stringify(edit));
  }
  const strong = await makeKey(tenant, { allowedIps: ['203.0.113.7'] });
  t.is(
    (await patch(narrow.apiKey, strong.apiKeyId, { allowed_ips: ['127.0.0.1'] })).status,
    403,
    'a stronger key, opened for here',
  );
  assertStatus(t, await patch(narrow.apiKey, strong.apiKeyId, { name: 'Theirs' }), 200);
  t.is(
    (
      await patch(narrow.apiKey, strong.apiKeyId, {
        allowed_ips: ['127.0.0.1'],
        permissions: maskOf(['READ_CONTACTS']),
      })
    ).status,
    200,
  );
  assertStatus(t, await patch(narrow.apiKey, narrow.apiKeyId, { permissions: maskOf(['API_KEYS']) }), 200);
});

test('a change, and a revocation, comes to hold in every process', async (t) => {
  const tenant = await world.tenant();
  const { apiKey, apiKeyId } = await makeKey(tenant);
  const becomes = (status: number) =>
    eventually(async () => (await inBoth(apiKey)).every((one) => one === status), WITHIN);
  t.deepEqual(await inBoth(apiKey), [200, 200], 'both processes know the key now');
  await patch(tenant.sessionToken, apiKeyId, { permissions: maskOf(['READ_CONTACTS']) });
  await becomes(403);
  await patch(tenant.sessionToken, apiKeyId, { permissions: maskOf(['API_KEYS']) });
  await becomes(200);
  await patch(tenant.sessionToken, apiKeyId, { allowed_ips: ['203.0.113.7'] });
  await becomes(403);
  await patch(tenant.sessionToken, apiKeyId, { allowed_ips: [] });
  await becomes(200);
  await remove(tenant.sessionToken, `/${apiKeyId}?reason=leaked`);
  await becomes(401);
  t.pass();
});

test('a key just revoked makes no key that outlives it', async (t) => {
  const tenant = await world.tenant();
  const { apiKey, apiKeyId } = await makeKey(tenant);
  t.deepEqual(await inBoth(apiKey), [200, 200]);
  await world.deps.db('api_keys').where('id', apiKeyId).update({ status: 'revoked', revoked_at: new Date() });
  for (const api of [world, second]) {
    assertStatus(t, await call(api, 'POST', KEYS, { token: apiKey, body: { name: 'Heir', permissions: 1 } }), 401);
  }
  t.is((await world.deps.db('api_keys').where({ organization_id: tenant.organizationId, name: 'Heir' })).length, 0);
});

test('only a key that authenticates nothing is deleted, with its usage', async (t) => {
  const clock = new ManualClock(new Date('2026-03-02T09:00:00Z'));
  const timed = await createWorld({ clock });
  t.teardown(() => timed.close());
  const tenant = await timed.tenant();
  const on = (method: string, path: string) => call(timed, method, `${KEYS}${path}`, { token: tenant.sessionToken });
  const { apiKey, apiKeyId } = await createApiKey(timed.deps, tenant.organizationId, tenant.userId, {
    expiresAt: new Date(clock.now().getTime() + 60_000),
  });
  assertStatus(t, await call(timed, 'GET', KEYS, { token: apiKey }), 200);
  await timed.usage.flush();
  t.is((await on('GET', `/${apiKeyId}/logs`)).body.data.length, 1);
  const early = await on('DELETE', `/${apiKeyId}/permanent`);
  assertStatus(t, early, 409);
  t.is(early.body.code, 'conflict');
  t.truthy(early.body.fix);
  clock.advance(60_000);
  t.like((await on('GET', '/usage/summary')).body, { active_keys: 1, expired_keys: 1, revoked_keys: 0 });
  const gone = await on('DELETE', `/${apiKeyId}/permanent`);
  assertStatus(t, gone, 200);
  t.deepEqual(gone.body, { status: 'deleted' });
  for (const table of ['api_key_usage_logs', 'api_key_usage_minutes'])
    t.is((await timed.deps.db(table).where('api_key_id', apiKeyId)).length, 0, table);
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/logs'],
    ['GET', '/analytics'],
    ['DELETE', ''],
    ['DELETE', '/permanent'],
  ] as const) {
    t.is((await on(method, `/${apiKeyId}${path}`)).status, 404, `${method} ${path}`);
  }
  assertStatus(t, await on('DELETE', `/${tenant.apiKeyId}/permanent`), 409);
  await on('DELETE', `/${tenant.apiKeyId}`);
  t.like((await on('GET', '/usage/summary')).body, { active_keys: 0, expired_keys: 0, revoked_keys: 1 });
  assertStatus(t, await on('DELETE', `/${tenant.apiKeyId}/permanent`), 200);
  const audits = await timed.deps
    .db('audit_logs')
    .where({ organization_id: tenant.organizationId, action: 'delete', entity_type: 'api_key' });
  t.deepEqual(audits.map((row) => row.entity_id).sort(), [apiKeyId, tenant.apiKeyId].sort());
});

test('every request of a known key is recorded, whatever becomes of it', async (t) => {
  const tenant = await world.tenant();
  const { apiKey, apiKeyId } = await makeKey(tenant, {
    permissions: maskOf(['API_KEYS']),
    allowedIps: ['203.0.113.7'],
    ratePerMinute: 5,
  });
  const from = (address: string) => ({
    token: apiKey,
    headers: { 'x-forwarded-for': address, 'user-agent': 'a'.repeat(600), 'content-type': 'application/json' },
  });
  const limited = await startApi(world.deps, createMetrics(), {
    port: 0,
    usage: world.usage,
    limiter: createRateLimiter(new ManualClock()),
  });
  t.teardown(() => limited.close());
  const statuses: number[] = [];
  const secret = randomSecret();
  for (const [method, path, body, address] of [
    ['GET', `${KEYS}/${apiKeyId}?x=${secret}`, undefined, '203.0.113.7'],
    ['GET', `${KEYS}/nothing`, undefined, '203.0.113.7'],
    ['POST', KEYS, '{"name":', '203.0.113.7'],
    ['GET', '/v1/contacts', undefined, '203.0.113.7'],
    ['GET', KEYS, undefined, '198.51.100.1'],
    ['GET', KEYS, undefined, '203.0.113.7'],
    ['GET', KEYS, undefined, '203.0.113.7'],
  ] as const) {
    statuses.push((await call(limited, method, path, { ...from(address), body })).status);
  }
  t.deepEqual(statuses, [400, 404, 400, 403, 403, 200, 429]);
  const logs = await readLogs(tenant, apiKeyId);
  t.deepEqual(
    logs.map((log) => log.response_code),
    statuses,
  );
  t.deepEqual(
    logs.map((log) => `${log.method} ${log.endpoint}`),
    [
      'GET /v1/api-keys/:id',
      'GET /v1/api-keys/:id',
      'POST /v1/api-keys',
      'GET /v1/contacts',
      'GET /v1/api-keys',
      'GET /v1/api-keys',
      'GET /v1/api-keys',
    ],
  );
  for (const log of logs) t.like(log, { api_key_id: apiKeyId, user_agent: 'a'.repeat(512) });
  t.is(logs[4]!.ip_address, '198.51.100.1');
  assertNowhere(t, logs, [secret]);
  const { body } = await get(tenant.sessionToken, `/${apiKeyId}/analytics?interval=minute`);
  t.like(body, { total: 7, errors: 6 });
  t.deepEqual(
    body.endpoints.map((line: { endpoint: string; method: string; count: number; error_count: number }) => [
      line.method,
      line.endpoint,
      line.count,
      line.error_count,
    ]),
    [
      ['GET', '/v1/api-keys', 3, 2],
      ['GET', '/v1/api-keys/:id', 2, 2],
      ['POST', '/v1/api-keys', 1, 1],
      ['GET', '/v1/contacts', 1, 1],
    ],
  );
});

test('requests with an expired or unknown key, and those of a person, are not recorded', async (t) => {
  const tenant = await world.tenant();
  const { apiKey, apiKeyId } = await makeKey(tenant, { expiresAt: new Date(Date.now() - 1) });
  assertStatus(t, await get(apiKey, ''), 401);
  assertStatus(t, await get(`${tenant.apiKey}x`, ''), 401);
  assertStatus(t, await get(tenant.sessionToken, ''), 200);
  t.is(
    (
      await call(world, 'POST', KEYS, {
        token: `${tenant.apiKey}x`,
        body: '{"name":',
        headers: { 'content-type': 'application/json' },
      })
    ).status,
    401,
    'before the body is read',
  );
  assertStatus(t, await call(world, 'GET', '/v1/no-such-endpoint', { token: tenant.apiKey }), 404);
  for (const id of [apiKeyId, tenant.apiKeyId]) t.deepEqual(await readLogs(tenant, id), []);
  t.deepEqual((await get(tenant.sessionToken, '/usage/summary')).body, {
    active_keys: 1,
    revoked_keys: 0,
    expired_keys: 1,
    requests_24h: 0,
    errors_24h: 0,
    avg_latency_ms_24h: 0,
    last_call_at: null,
  });
});

test('a process that stops has written what it had noted', async (t) => {
  const tenant = await world.tenant();
  const short = await startApi(world.deps, createMetrics(), { port: 0 });
  for (let i = 0; i < 3; i += 1) await call(short, 'GET', `${KEYS}/permissions`, { token: tenant.apiKey });
  await short.close();
  t.is((await world.deps.db('api_key_usage_logs').where('api_key_id', tenant.apiKeyId)).length, 3);
});

test('logs page newest first; a bad limit means the default, a bad cursor is refused', async (t) => {
  const tenant = await world.tenant();
  for (let i = 0; i < 55; i += 1)
    world.usage.record({
      apiKeyId: tenant.apiKeyId,
      endpoint: '/v1/x',
      method: 'GET',
      ipAddress: '192.0.2.1',
      userAgent: String(i),
      status: 200,
      durationMs: 1.4,
      requestId: `request-${i}`,
    });
  await world.usage.flush();
  const page = async (query: string) => (await get(tenant.sessionToken, `/${tenant.apiKeyId}/logs?${query}`)).body;
  const seen: string[] = [];
  let cursor = '';
  do {
    const { data, pagination } = await page(`limit=20&cursor=${cursor}`);
    seen.push(...data.map((log: { user_agent: string }) => log.user_agent));
    cursor = pagination.next_cursor ?? '';
    t.is(pagination.has_more, cursor !== '');
  } while (cursor);
  t.deepEqual(
    seen,
    Array.from({ length: 55 }, (_, index) => String(54 - index)),
  );
  t.is((await page('limit=200')).data.length, 55);
  t.like((await page('request_id=request-7')).data, [{ user_agent: '7', request_id: 'request-7' }]);
  t.deepEqual((await page('request_id=request-99')).data, []);
  for (const limit of ['0', '201', 'many', '']) t.is((await page(`limit=${limit}`)).data.length, 50, limit);
  assertStatus(t, await get(tenant.sessionToken, `/${tenant.apiKeyId}/logs?cursor=junk`), 400);
  const other = await makeKey(tenant);
  const { pagination } = await page('limit=1');
  t.is(
    (await get(tenant.sessionToken, `/${other.apiKeyId}/logs?cursor=${pagination.next_cursor}`)).status,
    400,
    'the cursor of another key',
  );
  assertStatus(t, await get(tenant.sessionToken, '/all/logs'), 404);
});

test('analytics: defaults, the whole workspace, and every refusal of a range', async (t) => {
  const tenant = await world.tenant();
  await get(tenant.apiKey, '');
  await world.usage.flush();
  const { body } = await get(tenant.sessionToken, `/${tenant.apiKeyId}/analytics`);
  t.is(body.interval, 'hour');
  t.is(body.api_key_id, tenant.apiKeyId);
  t.is(Date.parse(body.to) - Date.parse(body.from), 86_400_000);
  t.true(body.buckets.length === 24 || body.buckets.length === 25);
  t.is(body.total, 1);
  const to = '2026-03-02T00:00:00Z';
  const empty = await get(tenant.sessionToken, `/usage/analytics?to=${to}&interval=day`);
  t.deepEqual(empty.body, {
    api_key_id: ZERO_UUID,
    from: '2026-03-01T00:00:00.000Z',
    to: '2026-03-02T00:00:00.000Z',
    interval: 'day',
    endpoints: [],
    total: 0,
    errors: 0,
    buckets: [
      {
        bucket: '2026-03-01T00:00:00.000Z',
        total: 0,
        success: 0,
        client_errors: 0,
        server_errors: 0,
        avg_latency_ms: 0,
      },
    ],
  });
  for (const path of ['/all/analytics', '/usage/analytics']) {
    const answer = await get(tenant.sessionToken, path);
    t.like(answer.body, { api_key_id: ZERO_UUID, total: 1 });
  }
  const refused = async (query: string) => {
    const answer = await get(tenant.sessionToken, `/all/analytics?${query}`);
    t.is(answer.status, 400, query);
    return answer.body.problems as { path: string; message: string }[];
  };
  t.like((await refused(`from=${to}&to=${to}`))[0], { path: 'query.from', message: 'must be before to' });
  t.regex((await refused('from=2999-01-01T00:00:00Z'))[0]!.message, /before now/);
  for (const [interval, days, said] of [
    ['minute', 1, '1 day '],
    ['hour', 31, '31 days '],
    ['day', 92, '92 days '],
  ] as const) {
    const longest = Date.parse(to) - days * 86_400_000;
    const [problem] = await refused(`interval=${interval}&to=${to}&from=${new Date(longest - 1).toISOString()}`);
    t.is(problem!.path, 'query.from');
    t.true(problem!.message.includes(said), problem!.message);
    t.is(
      (
        await get(
          tenant.sessionToken,
          `/all/analytics?interval=${interval}&to=${to}&from=${new Date(longest).toISOString()}`,
        )
      ).status,
      200,
      interval,
    );
  }
  t.deepEqual((await refused('interval=week&from=yesterday&to=')).map(({ path }) => path).sort(), [
    'query.from',
    'query.interval',
    'query.to',
  ]);
});

test('a workspace sees no usage of another, and a session without one is asked to choose', async (t) => {
  const [own, other] = [await world.tenant(), await world.tenant()];
  await get(other.apiKey, '');
  await world.usage.flush();
  t.is((await get(own.sessionToken, '/all/analytics')).body.total, 0);
  t.is((await get(own.sessionToken, '/usage/summary')).body.requests_24h, 0);
  for (const path of ['analytics', 'logs'])
    assertStatus(t, await get(own.sessionToken, `/${other.apiKeyId}/${path}`), 404);
  await world.deps.db('sessions').where('user_id', own.userId).update({ organization_id: null });
  for (const path of ['/usage/summary', '/usage/analytics', '/all/analytics', `/${own.apiKeyId}/logs`]) {
    t.is((await get(own.sessionToken, path)).body.code, 'no_organization', path);
  }
});
