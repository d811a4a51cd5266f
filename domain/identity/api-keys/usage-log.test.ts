import test from 'ava';
import fc from 'fast-check';
import type { RawDb } from '../../../test/harness/database.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { ZERO_UUID } from '../../../lib/ids.ts';
import { createApiKey } from '../../../test/harness/factories.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { usageAnalytics, type UsageInterval } from './analytics.ts';
import { deleteKey, revokeKey } from './keys.ts';
import { createUsageLog, type KeyRequest } from './usage-log.ts';
import { usageSummary } from './usage.ts';

const NOON = new Date('2026-03-02T12:00:00Z').getTime();
const clock = new ManualClock(new Date(NOON));
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
});
test.after.always(() => world?.close());

const request = (apiKeyId: string, fields: Partial<KeyRequest> = {}): KeyRequest => ({
  apiKeyId,
  endpoint: '/v1/contacts/:id',
  method: 'GET',
  ipAddress: '192.0.2.1',
  userAgent: 'test',
  status: 200,
  durationMs: 10,
  requestId: 'request-1',
  ...fields,
});
const logged = async (db: RawDb, apiKeyId: string): Promise<string[]> =>
  db('api_key_usage_logs').where({ api_key_id: apiKeyId }).orderBy('id').pluck('user_agent');
const counted = async (db: RawDb, apiKeyId: string): Promise<number> =>
  Number((await db('api_key_usage_minutes').where({ api_key_id: apiKeyId }).sum('count as n').first())!.n);

test.serial('a batch whose answer was lost after the commit is neither lost nor counted twice', async (t) => {
  const { apiKeyId } = await world.tenant();
  let lost = 0;
  const { client } = world.deps.db;
  const lossy = new Proxy(client, {
    get: (real, name) =>
      name !== 'query' || lost > 0
        ? Reflect.get(real, name)
        : async (...call: unknown[]) => {
            await real.query(...call);
            lost += 1;
            throw new Error('connection lost');
          },
  });
  const db = new Proxy(world.deps.db, {
    get: (real, name) => (name === 'client' ? lossy : Reflect.get(real, name)),
  });
  const usage = createUsageLog({ ...world.deps, db });
  for (const userAgent of ['a', 'b', 'c']) usage.record(request(apiKeyId, { userAgent }));
  await t.throwsAsync(usage.flush(), { message: 'connection lost' });
  usage.record(request(apiKeyId, { userAgent: 'd' }));
  await usage.flush();
  t.is(lost, 1);
  t.deepEqual(await logged(world.deps.db, apiKeyId), ['a', 'b', 'c', 'd']);
  t.is(await counted(world.deps.db, apiKeyId), 4);
});

test.serial('while the database is away the newest records are kept, the others are counted as given up', async (t) => {
  const away = await createWorld({ clock });
  t.teardown(() => away.close());
  const { apiKeyId } = await away.tenant();
  let dropped = 0;
  const usage = createUsageLog(away.deps, {
    maxWaiting: 20,
    onDropped: (count) => {
      dropped += count;
    },
  });
  await away.deps.db.raw('alter table api_key_usage_logs rename to gone');
  const names = Array.from({ length: 75 }, (_, index) => `agent ${index}`);
  for (const [index, userAgent] of names.entries()) {
    usage.record(request(apiKeyId, { userAgent }));
    if (index % 30 === 0) await t.throwsAsync(usage.flush());
  }
  await away.deps.db.raw('alter table gone rename to api_key_usage_logs');
  await usage.flush();
  const stored = await logged(away.deps.db, apiKeyId);
  t.true(stored.length > 0 && stored.length <= 20, `${stored.length} kept`);
  t.deepEqual(stored, names.slice(-stored.length));
  t.is(stored.length + dropped, names.length);
  t.is(await counted(away.deps.db, apiKeyId), stored.length);
});

test.serial('records of a key deleted meanwhile go with it and delay no other record', async (t) => {
  const tenant = await world.tenant();
  const { apiKeyId } = await createApiKey(world.deps, tenant.organizationId, tenant.userId);
  const ctx = world.system(tenant.organizationId);
  const usage = createUsageLog(world.deps);
  usage.record(request(apiKeyId));
  await usage.flush();
  usage.record(request(apiKeyId));
  usage.record(request(tenant.apiKeyId));
  await t.throwsAsync(deleteKey(ctx, apiKeyId), { message: /can still authenticate/ });
  await revokeKey(ctx, apiKeyId);
  await deleteKey(ctx, apiKeyId);
  await usage.flush();
  t.is((await logged(world.deps.db, apiKeyId)).length, 0);
  t.is(await counted(world.deps.db, apiKeyId), 0);
  t.is((await logged(world.deps.db, tenant.apiKeyId)).length, 1);
});

test.serial(
  'records noted during a write are written too, and many processes may write the same minutes',
  async (t) => {
    const { apiKeyId } = await world.tenant();
    const logs = Array.from({ length: 4 }, () => createUsageLog(world.deps));
    const endpoints = Array.from({ length: 25 }, (_, index) => `/v1/${index}`);
    for (let round = 0; round < 5; round += 1) {
      for (const [index, usage] of logs.entries()) {
        const order = index % 2 ? endpoints : [...endpoints].reverse();
        for (let i = 0; i < 300; i += 1) usage.record(request(apiKeyId, { endpoint: order[i % order.length]! }));
      }
      const writes = logs.map((usage) => usage.flush());
      for (const usage of logs) usage.record(request(apiKeyId));
      await Promise.all(writes);
    }
    await Promise.all(logs.map((usage) => usage.flush()));
    t.is((await logged(world.deps.db, apiKeyId)).length, 4 * 5 * 301);
    t.is(await counted(world.deps.db, apiKeyId), 4 * 5 * 301);
  },
);

interface Past {
  key: 0 | 1 | 2;
  agoMs: number;
  endpoint: string;
  method: string;
  status: number;
  durationMs: number;
}

const MS: Record<UsageInterval, number> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };
const SPAN = 3 * 86_400_000;

test.serial('analytics and summary say what a plain count of the requests says', async (t) => {
  const own = await world.tenant('Own');
  const foreign = await world.tenant('Foreign');
  const second = await createApiKey(world.deps, own.organizationId, own.userId);
  const keys = [own.apiKeyId, second.apiKeyId, foreign.apiKeyId] as const;
  const ctx = world.system(own.organizationId);
  const ago = fc.oneof(
    fc.integer({ min: 0, max: SPAN }),
    fc.integer({ min: 0, max: SPAN / MS.hour }).map((hours) => hours * MS.hour),
    fc.integer({ min: 0, max: 180_000 }),
  );
  const past: fc.Arbitrary<Past> = fc.record({
    key: fc.constantFrom(0, 1, 2),
    agoMs: ago,
    endpoint: fc.constantFrom('/v1/contacts', '/v1/contacts/:id', '/v1/campaigns'),
    method: fc.constantFrom('GET', 'DELETE'),
    status: fc.constantFrom(200, 201, 204, 302, 400, 404, 429, 500, 503),
    durationMs: fc.integer({ min: 0, max: 5_000 }),
  });
  const range = fc
    .record({ from: ago, to: ago, interval: fc.constantFrom<UsageInterval>('minute', 'hour', 'day') })
    .filter(({ from, to, interval }) => from > to && (interval !== 'minute' || from - to <= MS.day));
  await fc.assert(
    fc.asyncProperty(
      fc.array(past, { maxLength: 60 }),
      range,
      fc.constantFrom('all', keys[0], keys[1]),
      async (requests, asked, who) => {
        await world.deps.db.raw('truncate api_key_usage_logs, api_key_usage_minutes');
        const usage = createUsageLog(world.deps);
        for (const { key, agoMs, ...fields } of requests) {
          clock.set(new Date(NOON - agoMs));
          usage.record(request(keys[key], fields));
        }
        clock.set(new Date(NOON));
        await usage.flush();

        const [from, to] = [NOON - asked.from, NOON - asked.to];
        const minute = (agoMs: number) => Math.floor((NOON - agoMs) / MS.minute) * MS.minute;
        const inside = requests.filter(
          ({ key, agoMs }) =>
            (who === 'all' ? key !== 2 : keys[key] === who) &&
            minute(agoMs) >= Math.floor(from / MS.minute) * MS.minute &&
            minute(agoMs) < to,
        );
        const size = MS[asked.interval];
        const buckets = [];
        for (let at = Math.floor(from / size) * size; at < to; at += size) {
          buckets.push({
            bucket: new Date(at),
            ...naive(inside.filter(({ agoMs }) => Math.floor((NOON - agoMs) / size) * size === at)),
          });
        }
        const answer = await usageAnalytics(ctx, who, {
          from: new Date(from),
          to: new Date(to),
          interval: asked.interval,
        });
        t.deepEqual(answer.buckets, buckets);
        t.is(answer.api_key_id, who === 'all' ? ZERO_UUID : who);
        t.is(answer.total, inside.length);
        t.is(answer.errors, inside.filter(({ status }) => status >= 400).length);
        t.is(
          answer.endpoints.reduce((sum, { count }) => sum + count, 0),
          inside.length,
        );
        t.is(
          answer.endpoints.reduce((sum, { error_count }) => sum + error_count, 0),
          answer.errors,
        );
        for (const line of answer.endpoints) {
          const { total, client_errors, server_errors, avg_latency_ms } = naive(
            inside.filter(({ endpoint, method }) => endpoint === line.endpoint && method === line.method),
          );
          t.deepEqual(line, {
            endpoint: line.endpoint,
            method: line.method,
            count: total,
            error_count: client_errors + server_errors,
            avg_latency_ms,
          });
        }

        const ours = requests.filter(({ key }) => key !== 2);
        const day = naive(ours.filter(({ agoMs }) => agoMs <= MS.day));
        t.deepEqual(await usageSummary(ctx), {
          active_keys: 2,
          revoked_keys: 0,
          expired_keys: 0,
          requests_24h: day.total,
          errors_24h: day.client_errors + day.server_errors,
          avg_latency_ms_24h: day.avg_latency_ms,
          last_call_at: ours.length ? new Date(NOON - Math.min(...ours.map(({ agoMs }) => agoMs))) : null,
        });
      },
    ),
    { numRuns: 60 },
  );
});

/** Reference implementation, which counts the requests themselves, without stored minutes or SQL. */
function naive(requests: readonly Past[]) {
  const count = (is: (status: number) => boolean) => requests.filter(({ status }) => is(status)).length;
  const latency = requests.reduce((sum, { durationMs }) => sum + durationMs, 0) / requests.length;
  return {
    total: requests.length,
    success: count((status) => status < 400),
    client_errors: count((status) => status >= 400 && status < 500),
    server_errors: count((status) => status >= 500),
    avg_latency_ms: requests.length ? Math.round(latency * 100) / 100 : 0,
  };
}
