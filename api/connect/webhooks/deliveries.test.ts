import test from 'ava';
import { newId } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import { createDelivery } from '../../../test/harness/webhook-rows.ts';
import { createEndpoint } from '../../../test/harness/webhooks.ts';
import { assertStatus, call, createWorld, type World } from '../../../test/harness/world.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

const HOOK = 'http://hooks.example.com/in';

/**
 * A tenant with two endpoints and 12 deliveries that alternate between them, in all statuses and three types; newest
 * first.
 */
async function scene() {
  const tenant = await world.tenant();
  const endpoints = [
    (await createEndpoint(world.deps, tenant.organizationId, HOOK)).id,
    (await createEndpoint(world.deps, tenant.organizationId, HOOK)).id,
  ];
  const statuses = ['delivered', 'failed', 'pending', 'in_flight', 'abandoned', 'delivered'];
  const types = ['contact.created', 'contact.updated', 'campaign.started'];
  const rows = [];
  for (let n = 0; n < 12; n += 1) {
    const row = { endpoint: endpoints[n % 2]!, status: statuses[n % 6]!, type: types[n % 3]! };
    rows.unshift({
      ...row,
      id: await createDelivery(world.deps, tenant.organizationId, row.endpoint, {
        status: row.status,
        event_type: row.type,
      }),
    });
  }
  const get = (path: string) => call(world, 'GET', `/v1/webhooks${path}`, { token: tenant.apiKey });
  return { tenant, endpoints, rows, get };
}

test('a delivery shows its state, attempts and last answer, with the body its receiver gets while it is kept', async (t) => {
  const tenant = await world.tenant();
  const { id: endpointId } = await createEndpoint(world.deps, tenant.organizationId, HOOK);
  const now = new Date('2026-05-01T10:00:00Z');
  const id = await createDelivery(world.deps, tenant.organizationId, endpointId, {
    status: 'failed',
    attempt_count: 2,
    response_status: 503,
    response_body_excerpt: 'try later',
    error_reason: message('connect.receiver_status', { status: 503 }),
    next_attempt_at: now,
    last_attempt_at: now,
  });
  const list = () => call(world, 'GET', '/v1/webhooks/deliveries', { token: tenant.apiKey });
  const [shown] = (await list()).body.data;
  t.like(shown, {
    id,
    endpoint_id: endpointId,
    organization_id: tenant.organizationId,
    event_type: 'contact.updated',
    status: 'failed',
    attempt_count: 2,
    max_attempts: 8,
    next_attempt_at: now.toISOString(),
    last_attempt_at: now.toISOString(),
    response_status: 503,
    response_body_excerpt: 'try later',
    error_reason: 'The receiver answered 503',
  });
  t.deepEqual(Object.keys(shown.payload), ['id', 'event_type', 'organization_id', 'created_at', 'data']);
  t.is(shown.payload.id, shown.event_id);
  t.false('secret_id' in shown || 'batch_id' in shown);
  await world.deps.db('webhook_payloads').where({ event_id: shown.event_id }).delete();
  t.is((await list()).body.data[0].payload, null);
});

test('lists page newest first, whole or filtered, without gap or repetition', async (t) => {
  const { endpoints, rows, get } = await scene();
  const walk = async (path: string, query: string) => {
    const seen: string[] = [];
    for (let cursor = ''; ;) {
      const { body, status, text } = await get(
        `${path}?limit=2${query}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      t.is(status, 200, text);
      t.is(body.pagination.has_more, body.pagination.next_cursor !== null);
      t.is(body.pagination.total, null);
      seen.push(...body.data.map((row: { id: string }) => row.id));
      if (!body.pagination.has_more) return seen;
      cursor = body.pagination.next_cursor;
    }
  };
  const ids = (keep: (row: (typeof rows)[number]) => boolean) => rows.filter(keep).map((row) => row.id);
  t.deepEqual(
    await walk('/deliveries', ''),
    ids(() => true),
  );
  t.deepEqual(
    await walk('/deliveries', '&status=delivered'),
    ids((row) => row.status === 'delivered'),
  );
  t.deepEqual(
    await walk('/deliveries', '&event_type=contact.updated'),
    ids((row) => row.type === 'contact.updated'),
  );
  t.deepEqual(
    await walk('/deliveries', '&event_type=campaign.started&status=pending'),
    ids((row) => row.type === 'campaign.started' && row.status === 'pending'),
  );
  for (const endpoint of endpoints) {
    t.deepEqual(
      await walk(`/${endpoint}/deliveries`, ''),
      ids((row) => row.endpoint === endpoint),
    );
    t.deepEqual(
      await walk(`/${endpoint}/deliveries`, '&status=failed'),
      ids((row) => row.endpoint === endpoint && row.status === 'failed'),
    );
    t.deepEqual(
      await walk(`/${endpoint}/deliveries`, '&event_type=contact.created'),
      ids((row) => row.endpoint === endpoint && row.type === 'contact.created'),
    );
  }
});

test('limits out of range, unknown filters and strange cursors are 400 and named', async (t) => {
  const { endpoints, get } = await scene();
  const cursor = (await get('/deliveries?limit=1')).body.pagination.next_cursor as string;
  const endpointCursor = (await get(`/${endpoints[0]}/deliveries?limit=1`)).body.pagination.next_cursor as string;
  for (const path of ['/deliveries', `/${endpoints[0]}/deliveries`, '/throttle-drops']) {
    for (const limit of ['0', '201', '-1', 'x', '1.5', '']) {
      const answer = await get(`${path}?limit=${limit}`);
      t.deepEqual([answer.status, answer.body.problems[0].path], [400, 'query.limit'], `${path} ${limit}`);
    }
    assertStatus(t, await get(`${path}?limit=200`), 200);
    for (const strange of ['x', 'bnVsbA', Buffer.from('[1,"x","y"]').toString('base64url')]) {
      const answer = await get(`${path}?cursor=${strange}`);
      t.deepEqual([answer.status, answer.body.problems[0].path], [400, 'query.cursor'], `${path} ${strange}`);
    }
  }
  const bad = await get('/deliveries?status=done&event_type=nope&limit=999');
  t.deepEqual(bad.body.problems.map((problem: { path: string }) => problem.path).sort(), [
    'query.event_type',
    'query.limit',
    'query.status',
  ]);
  for (const path of [
    `/deliveries?status=failed&cursor=${cursor}`,
    `/deliveries?event_type=contact.created&cursor=${cursor}`,
    `/${endpoints[0]}/deliveries?cursor=${cursor}`,
    `/${endpoints[1]}/deliveries?cursor=${endpointCursor}`,
    `/throttle-drops?cursor=${cursor}`,
  ])
    t.is((await get(path)).status, 400, path);
});

test("no list shows another workspace's deliveries", async (t) => {
  const [mine, other] = [await scene(), await scene()];
  const text = (await mine.get('/deliveries')).text;
  t.is(JSON.parse(text).data.length, 12);
  for (const { id } of other.rows) t.false(text.includes(id));
  assertStatus(t, await mine.get(`/${other.endpoints[0]}/deliveries`), 404);
});

test('every attempt of a delivery is shown, the last one first, and those of another workspace are not found', async (t) => {
  const { tenant, rows } = await scene();
  const { id } = rows[0]!;
  const startedAt = new Date('2026-03-02T12:00:00Z');
  await world.deps.db('webhook_attempts').insert(
    [
      {
        attempt: 1,
        response_status: 500,
        error_reason: message('connect.receiver_status', { status: 500 }),
        duration_ms: 120,
      },
      { attempt: 2, response_status: null, error_reason: message('egress.timeout'), duration_ms: 15_000 },
      { attempt: 3, response_status: 204, error_reason: null, duration_ms: 40 },
    ].map((one) => ({ ...one, delivery_id: id, organization_id: tenant.organizationId, started_at: startedAt })),
  );
  const path = `/v1/webhooks/deliveries/${id}/attempts`;
  const { status, body } = await call(world, 'GET', path, { token: tenant.apiKey });
  t.is(status, 200);
  t.deepEqual(
    body.data.map((one: Record<string, unknown>) => [
      one.attempt,
      one.response_status,
      one.error_reason,
      one.duration_ms,
    ]),
    [
      [3, 204, null, 40],
      [2, null, 'The host did not answer in time', 15_000],
      [1, 500, 'The receiver answered 500', 120],
    ],
  );
  t.is(body.data[0].started_at, startedAt.toISOString());
  assertStatus(t, await call(world, 'GET', path, { token: (await world.tenant()).apiKey }), 404);
});

test('a delivery in any status is enqueued again, once per Idempotency-Key, with the same event', async (t) => {
  const { tenant, rows } = await scene();
  for (const row of rows.slice(0, 6)) {
    const again = (key: string) =>
      call(world, 'POST', `/v1/webhooks/deliveries/${row.id}/redeliver`, {
        token: tenant.apiKey,
        headers: { 'idempotency-key': key },
      });
    const before = await world.deps.db('webhook_deliveries').where({ id: row.id }).first();
    const answer = await again(row.id);
    assertStatus(t, answer, 200);
    t.like(answer.body, {
      id: row.id,
      status: 'pending',
      event_id: before.event_id,
      attempt_count: before.attempt_count,
    });
    t.is(answer.body.payload.id, before.event_id);
    t.deepEqual((await again(row.id)).body, answer.body);
    const intents = await world.deps.db('outbox').where('workflow_id', 'like', `%${row.id}%`);
    t.is(intents.length, 1, row.status);
  }
  const log = await world.deps.db('audit_logs').where({ organization_id: tenant.organizationId, action: 'redeliver' });
  t.is(log.length, 6);
});

test('nothing is sent again to an endpoint that is switched off or not verified', async (t) => {
  const { tenant, rows, endpoints } = await scene();
  const again = () => call(world, 'POST', `/v1/webhooks/deliveries/${rows[0]!.id}/redeliver`, { token: tenant.apiKey });
  const endpointOf = await world.deps.db('webhook_deliveries').where({ id: rows[0]!.id }).first();
  t.true(endpoints.includes(endpointOf.endpoint_id));
  for (const fields of [
    { enabled: false, verified_at: new Date() },
    { enabled: true, verified_at: null },
  ]) {
    await world.deps.db('webhook_endpoints').where({ id: endpointOf.endpoint_id }).update(fields);
    const refused = await again();
    t.deepEqual([refused.status, refused.body.code], [409, 'conflict']);
    t.truthy(refused.body.fix);
    t.is((await world.deps.db('webhook_deliveries').where({ id: rows[0]!.id }).first()).status, endpointOf.status);
  }
  await world.deps
    .db('webhook_endpoints')
    .where({ id: endpointOf.endpoint_id })
    .update({ enabled: true, verified_at: new Date() });
  assertStatus(t, await again(), 200);
});

test('throttle drops are listed per minute, newest first, a page at a time', async (t) => {
  const tenant = await world.tenant();
  const { id: endpointId } = await createEndpoint(world.deps, tenant.organizationId, HOOK);
  const made = [];
  for (let n = 0; n < 5; n += 1) {
    const minute = new Date(Date.UTC(2026, 4, 1, 10, n));
    const row = {
      endpoint_id: endpointId,
      event_type: 'contact.updated',
      reason: n % 2 ? 'endpoint_rate' : 'event_type_rate',
      dropped: n + 1,
      minute,
      last_event_id: newId(),
    };
    await world.deps
      .db('webhook_throttle_drops')
      .insert({ id: newId(), organization_id: tenant.organizationId, ...row, created_at: minute, updated_at: minute });
    made.unshift({ ...row, minute: minute.toISOString() });
  }
  const get = (query: string) => call(world, 'GET', `/v1/webhooks/throttle-drops${query}`, { token: tenant.apiKey });
  const first = (await get('?limit=3')).body;
  t.deepEqual(first.data, made.slice(0, 3));
  t.true(first.pagination.has_more);
  const second = (await get(`?limit=3&cursor=${first.pagination.next_cursor}`)).body;
  t.deepEqual(second.data, made.slice(3));
  t.deepEqual(second.pagination, { total: null, next_cursor: null, has_more: false });
  t.deepEqual(
    (await call(world, 'GET', '/v1/webhooks/throttle-drops', { token: (await world.tenant()).apiKey })).body.data,
    [],
  );
});
