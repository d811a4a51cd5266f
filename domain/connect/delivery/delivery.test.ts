import test from 'ava';
import { json } from '../../../db/connection.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { newId } from '../../../lib/ids.ts';
import { createMetrics } from '../../../lib/metrics.ts';
import { verifySignature } from '../../../lib/signature.ts';
import { message } from '../../../messages/index.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { startReceiver, type Receiver } from '../../../test/harness/receiver.ts';
import { createEndpoint, emitEvents, fanOut } from '../../../test/harness/webhooks.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { issueSecret } from './secrets.ts';
import { attempt } from './attempt.ts';
import { claimWebhookDeliveries } from './claim.ts';
import { createDeliveryEngine, type DeliveryEngine } from './engine.ts';
import { enqueueRedelivery } from '../webhooks/enqueue-redelivery.ts';
import { attemptDelivery } from './retry.ts';
import { runBatch } from './run-batch.ts';
import { render } from '../../../messages/render.ts';

const clock = new ManualClock(new Date('2026-03-02T08:00:00Z'));
let world: World;
let engine: DeliveryEngine;
let receiver: Receiver;
test.before(async () => {
  world = await createWorld({
    clock,
    env: { WEBHOOK_TIMEOUT_MS: '6000', WEBHOOK_ENDPOINT_CONCURRENCY: '4', WEBHOOK_DISABLE_AFTER_FAILURES: '3' },
  });
  engine = await createDeliveryEngine(world.deps, createMetrics(), { idleMs: 1_000 });
});
test.after.always(async () => {
  await engine?.close();
  await world?.close();
});
test.beforeEach(async () => {
  receiver = await startReceiver();
});
test.afterEach.always(() => receiver.stop());

const idle = () => new AbortController().signal;
const delivery = async (id: string) => world.deps.db('webhook_deliveries').where({ id }).first();
const attempts = async (id: string) => world.deps.db('webhook_attempts').where({ delivery_id: id }).orderBy('attempt');
const endpointRow = async (id: string) => world.deps.db('webhook_endpoints').where({ id }).first();
const again = (organizationId: string, deliveryId: string) => attemptDelivery(engine, { organizationId, deliveryId });

interface Scene {
  organizationId: string;
  endpoint: { id: string; secret: string };
  deliveryIds: string[];
  batchIds: string[];
}

/** Creates a workspace with an endpoint at the receiver, and deliveries that wait in their batches. */
async function scene(count = 1, fields: Record<string, unknown> = {}): Promise<Scene> {
  const { organizationId } = await world.tenant();
  const endpoint = await createEndpoint(world.deps, organizationId, `${receiver.url}/hook`, fields);
  await emitEvents(world.deps, organizationId, count);
  await fanOut(world.deps);
  const rows: { id: string; batch_id: string }[] = await world.deps
    .db('webhook_deliveries')
    .where({ endpoint_id: endpoint.id })
    .orderBy('id')
    .select('id', 'batch_id');
  return {
    organizationId,
    endpoint,
    deliveryIds: rows.map(({ id }) => id),
    batchIds: [...new Set(rows.map((row) => row.batch_id))],
  };
}

/** Ends the claims of all deliveries, as if their attempts had begun long ago. */
const endClaims = () => world.deps.db('webhook_deliveries').update({ claimed_until: world.deps.db.raw('now()') });

async function run({ batchIds }: Scene): Promise<void> {
  for (const id of batchIds) await runBatch(engine, id, { lane: false, signal: idle() });
}

test.serial(
  'a delivery carries the stored body, the headers of the contract and a signature made at this moment',
  async (t) => {
    const s = await scene();
    receiver.respond({ status: 201, body: 'thanks' });
    await run(s);
    const [request] = receiver.requests;
    const row = await delivery(s.deliveryIds[0]!);
    t.like(row, {
      status: 'delivered',
      attempt_count: 1,
      response_status: 201,
      response_body_excerpt: 'thanks',
      error_reason: null,
      next_attempt_at: null,
    });
    t.like(request!.headers, {
      'content-type': 'application/json',
      'user-agent': 'Webhooks/1.0',
      'x-service-event': 'team.member_joined',
      'x-service-event-id': row.event_id,
    });
    t.is(
      request!.raw.toString(),
      (await world.deps.db('webhook_payloads').where({ event_id: row.event_id }).first()).body,
    );
    t.true(
      verifySignature(request!.headers['x-service-signature'] as string, s.endpoint.secret, request!.raw, {
        toleranceSeconds: 0,
        now: clock.now(),
      }),
    );
    t.like((await attempts(s.deliveryIds[0]!))[0], {
      attempt: 1,
      response_status: 201,
      error_reason: null,
      organization_id: s.organizationId,
    });
    t.like(await endpointRow(s.endpoint.id), {
      consecutive_failures: 0,
      failing_since: null,
      last_success_at: clock.now(),
    });
  },
);

test.serial('a 2xx status is a delivery, although the body breaks', async (t) => {
  const s = await scene();
  receiver.respond({ status: 200, body: 'half', headers: { 'content-length': '100' } });
  await run(s);
  t.like(await delivery(s.deliveryIds[0]!), {
    status: 'delivered',
    attempt_count: 1,
    response_status: 200,
    response_body_excerpt: 'half',
    error_reason: null,
  });
});

test.serial('eight attempts by the schedule of the contract, every one on record, then abandoned', async (t) => {
  const s = await scene();
  const [id] = s.deliveryIds as [string];
  receiver.respond({ status: 503, body: 'not now' });
  await world.deps.db('outbox').delete();
  await run(s);
  const waits: number[] = [];
  const [intent] = await world.deps.db('outbox');
  t.like(intent, { kind: 'start', workflow_id: `webhook-delivery/${id}` });
  t.deepEqual(intent.payload.args, { organizationId: s.organizationId, deliveryId: id }, 'ids alone');
  for (;;) {
    const row = await delivery(id);
    if (row.status !== 'failed') break;
    const before = clock.now();
    waits.push((row.next_attempt_at.getTime() - before.getTime()) / 1000);
    clock.set(new Date(row.next_attempt_at.getTime() - 1));
    t.like(
      await again(s.organizationId, id),
      { state: 'waiting', at: row.next_attempt_at.getTime() },
      'too early is not an attempt',
    );
    clock.set(row.next_attempt_at);
    await again(s.organizationId, id);
  }
  t.deepEqual(waits, [30, 60, 120, 240, 480, 960, 1920]);
  t.like(await delivery(id), {
    status: 'abandoned',
    attempt_count: 8,
    next_attempt_at: null,
    response_status: 503,
    response_body_excerpt: 'not now',
    error_reason: message('connect.receiver_status', { status: 503 }),
  });
  t.deepEqual(
    (await attempts(id)).map((row) => [row.attempt, row.response_status]),
    [1, 2, 3, 4, 5, 6, 7, 8].map((n) => [n, 503]),
  );
  t.deepEqual(await again(s.organizationId, id), { state: 'settled', why: 'abandoned, attempt 8 of 8, status 503' });
  t.is(receiver.requests.length, 8);
  t.is(
    new Set(
      receiver.requests.map((request) => `${String(request.headers['x-service-event-id'])} ${request.raw.toString()}`),
    ).size,
    1,
    'the same id and bytes every time',
  );
  t.is((await world.deps.db('outbox')).length, 1, 'the run goes on by itself');
});

test.serial('redirects, resets, refusals and silence fail an attempt; the reason says which', async (t) => {
  const reasons: (string | null)[] = [];
  for (const answer of [
    { status: 302, headers: { location: `${receiver.url}/elsewhere` } },
    'reset' as const,
    { status: 410 },
  ]) {
    receiver.respond(answer);
    const s = await scene();
    await run(s);
    const row = await delivery(s.deliveryIds[0]!);
    t.is(row.status, 'failed');
    reasons.push(render(row.error_reason));
  }
  t.is(receiver.requests.length, 3, 'nothing is followed');
  t.deepEqual(reasons, [
    'The receiver answered with a redirect (302), which is not followed',
    'The connection closed before the answer was complete',
    'The receiver answered 410',
  ]);
});

test.serial('of an answer 1024 bytes are kept, as text a database can hold', async (t) => {
  const s = await scene();
  receiver.respond({
    status: 200,
    body: Buffer.concat([Buffer.from('a\0b'), Buffer.from('é'.repeat(600)), Buffer.alloc(100_000, 0xff)]),
  });
  await run(s);
  const { status, response_body_excerpt: excerpt } = await delivery(s.deliveryIds[0]!);
  t.is(status, 'delivered');
  t.is(excerpt, `a�b${'é'.repeat(510)}`);
});

test.serial(
  'a secret rotated between two attempts: what began with the old one keeps it, what begins later has the new one',
  async (t) => {
    const s = await scene();
    const [id] = s.deliveryIds as [string];
    const signedBy = (index: number, secret: string) =>
      verifySignature(
        receiver.requests[index]!.headers['x-service-signature'] as string,
        secret,
        receiver.requests[index]!.raw,
        { now: clock.now() },
      );
    receiver.respond(500);
    await run(s);
    const fresh = await issueSecret(world.deps.db, world.deps.keyring, { endpointId: s.endpoint.id }, clock.now());
    clock.set((await delivery(id)).next_attempt_at);
    receiver.respond(204);
    await again(s.organizationId, id);
    t.true(signedBy(1, s.endpoint.secret));
    t.false(signedBy(1, fresh));
    await emitEvents(world.deps, s.organizationId, 1);
    await fanOut(world.deps);
    const later = await world.deps
      .db('webhook_deliveries')
      .where({ endpoint_id: s.endpoint.id })
      .orderBy('id', 'desc')
      .first();
    await runBatch(engine, later.batch_id, { lane: false, signal: idle() });
    t.true(signedBy(2, fresh));
    await transact(world.system(s.organizationId), (tx) => enqueueRedelivery(world.deps, tx, id));
    await again(s.organizationId, id);
    t.true(signedBy(3, fresh), 'a redelivery begins anew');
  },
);

test.serial(
  'redelivery: any status, the same event, attempts go on counting and the schedule starts anew',
  async (t) => {
    const s = await scene();
    const [id] = s.deliveryIds as [string];
    await run(s);
    await world.deps.db('outbox').delete();
    const view = await transact(world.system(s.organizationId), (tx) => enqueueRedelivery(world.deps, tx, id));
    t.like(view, { id, status: 'pending', attempt_count: 1, max_attempts: 9, next_attempt_at: clock.now() });
    const [intent] = await world.deps.db('outbox');
    t.like(intent, { kind: 'signal', workflow_id: `webhook-delivery/${id}` });
    receiver.respond(500);
    t.like(await again(s.organizationId, id), { state: 'waiting', at: clock.now().getTime() + 30_000 });
    t.like(await delivery(id), { status: 'failed', attempt_count: 2, max_attempts: 9 });
    t.is(new Set(receiver.requests.map((request) => request.headers['x-service-event-id'])).size, 1);
    const other = await world.tenant();
    t.is(await transact(world.system(other.organizationId), (tx) => enqueueRedelivery(world.deps, tx, id)), undefined);
  },
);

test.serial(
  "what waits for an endpoint that is off, unverified or outside its application's domains is abandoned, not sent",
  async (t) => {
    const now = clock.now();
    const { organizationId } = await world.tenant();
    const applicationId = newId();
    await world.deps.db('oauth_applications').insert({
      id: applicationId,
      organization_id: organizationId,
      client_id: applicationId,
      name: 'App',
      redirect_uris: [],
      scopes: 0,
      allowed_webhook_domains: ['.example.com'],
      webhook_url: receiver.url,
      created_at: now,
      updated_at: now,
    });
    for (const [change, reason] of [
      [{ enabled: false }, 'connect.endpoint_off'],
      [{ verified_at: null }, 'connect.endpoint_unverified'],
      [{ application_id: applicationId }, 'connect.host_not_allowed'],
    ] as const) {
      const s = await scene();
      await world.deps.db('webhook_endpoints').where({ id: s.endpoint.id }).update(change);
      if ('application_id' in change) await issueSecret(world.deps.db, world.deps.keyring, { applicationId }, now);
      await run(s);
      t.like(await delivery(s.deliveryIds[0]!), {
        status: 'abandoned',
        attempt_count: 0,
        error_reason: { code: reason },
      });
      t.deepEqual(await attempts(s.deliveryIds[0]!), []);
      t.is((await endpointRow(s.endpoint.id)).consecutive_failures, 0);
    }
    t.is(receiver.requests.length, 0);
  },
);

test.serial(
  'sustained failure switches an endpoint off, on the audit log; a success in between starts over',
  async (t) => {
    const DAY = 86_400_000;
    const s = await scene(3);
    const [first, second, third] = s.deliveryIds as [string, string, string];
    const { db } = world.deps;
    await db('webhook_deliveries')
      .whereIn('id', [second, third])
      .update({ batch_id: null, next_attempt_at: clock.now() });
    receiver.respond(500);
    await run(s);
    const began = clock.now();
    t.like(await endpointRow(s.endpoint.id), {
      consecutive_failures: 1,
      failing_since: began,
      last_failure_reason: message('connect.receiver_status', { status: 500 }),
    });
    clock.advance(DAY);
    await again(s.organizationId, second);
    t.like(
      await endpointRow(s.endpoint.id),
      { enabled: true, consecutive_failures: 2, failing_since: began },
      'long enough, not often enough',
    );
    receiver.respond(200);
    await again(s.organizationId, first);
    t.like(await endpointRow(s.endpoint.id), { enabled: true, consecutive_failures: 0, failing_since: null });
    receiver.respond(500);
    const fail = async (id: string) => {
      await db('webhook_deliveries').where({ id }).update({ status: 'pending', next_attempt_at: clock.now() });
      await again(s.organizationId, id);
    };
    for (let n = 0; n < 4; n += 1) await fail(third);
    t.like(
      await endpointRow(s.endpoint.id),
      { enabled: true, consecutive_failures: 4 },
      'often enough, not long enough',
    );
    clock.advance(DAY);
    await fail(second);
    const row = await endpointRow(s.endpoint.id);
    t.like(row, { enabled: false, consecutive_failures: 5 });
    t.is(row.disabled_reason.code, 'connect.switched_off');
    t.is(row.disabled_reason.values.failures, 5);
    const audit = await db('audit_logs').where({ organization_id: s.organizationId, entity_id: s.endpoint.id });
    t.like(audit[0], { action: 'webhook.disabled', entity_type: 'webhook', actor_kind: 'system' });
    t.is(audit.length, 1);
    const sent = receiver.requests.length;
    await fail(second);
    t.is(receiver.requests.length, sent);
    t.like(await delivery(second), { status: 'abandoned', error_reason: message('connect.endpoint_off') });
  },
);

test.serial(
  'a batch whose worker died: what had its outcome is not repeated, what was in flight is, and both attempts are on record',
  async (t) => {
    const s = await scene(3);
    const [batchId] = s.batchIds as [string];
    const [inFlight] = await claimWebhookDeliveries(world.deps, { batchId, limit: 1, takeOver: false });
    await engine.settler.settle(await attempt(engine, inFlight!), 'new run');
    const [lost] = await claimWebhookDeliveries(world.deps, { batchId, limit: 1, takeOver: false });
    t.is(lost!.id, s.deliveryIds[1]!);
    await endClaims();
    await runBatch(engine, batchId, { lane: false, signal: idle() });
    const times = (id: string, requests = receiver.requests) =>
      requests.filter((request) => request.headers['x-service-event-id'] === id).length;
    const rows = await Promise.all(s.deliveryIds.map(delivery));
    t.deepEqual(
      rows.map((row) => [row.status, row.attempt_count, times(row.event_id)]),
      [
        ['delivered', 1, 1],
        ['delivered', 2, 1],
        ['delivered', 1, 1],
      ],
    );
    t.deepEqual(
      (await attempts(lost!.id)).map((row) => [row.attempt, row.response_status, row.error_reason]),
      [
        [1, null, message('connect.attempt_lost')],
        [2, 204, null],
      ],
    );

    t.deepEqual(
      rows.map((row) => row.max_attempts),
      [8, 9, 8],
      'an attempt without an outcome uses up none',
    );

    // The first worker was only suspended and now continues. Its result is recorded, but does not change the delivery,
    // which has already ended.
    receiver.respond(500);
    t.false(await engine.settler.settle(await attempt(engine, lost!), 'new run'));
    t.like(await delivery(lost!.id), { status: 'delivered', attempt_count: 2 });
    t.deepEqual(
      (await attempts(lost!.id)).map((row) => row.response_status),
      [500, 204],
    );
  },
);

test.serial('an endpoint deleted while its deliveries are in flight takes only its own along', async (t) => {
  const gone = await scene();
  const kept = await scene();
  const claims = (
    await Promise.all(
      [gone, kept].map(({ batchIds }) =>
        claimWebhookDeliveries(world.deps, { batchId: batchIds[0]!, limit: 9, takeOver: false }),
      ),
    )
  ).flat();
  const results = await Promise.all(claims.map((one) => attempt(engine, one)));
  await world.deps.db('webhook_endpoints').where({ id: gone.endpoint.id }).delete();
  t.deepEqual(
    await Promise.all(results.map((result) => engine.settler.settle(result, 'new run'))),
    results.map(({ delivery: { endpointId } }) => endpointId === kept.endpoint.id),
  );
  t.like(await delivery(kept.deliveryIds[0]!), { status: 'delivered' });
});

test.serial(
  'an endpoint that hangs delays no other: the others have theirs, the rest waits in its own batch',
  async (t) => {
    t.timeout(120_000);
    const slow = await startReceiver({ respond: 'hang' });
    const { organizationId } = await world.tenant();
    const hanging = await createEndpoint(world.deps, organizationId, slow.url);
    const healthy = await Promise.all(
      Array.from({ length: 5 }, () => createEndpoint(world.deps, organizationId, receiver.url)),
    );
    await emitEvents(world.deps, organizationId, 20);
    t.is(await fanOut(world.deps), 120);
    await world.deps.db('outbox').delete();
    const [{ batch_id: batchId }] = await world.deps
      .db('webhook_deliveries')
      .where({ organization_id: organizationId })
      .limit(1);
    const running = runBatch(engine, batchId, { lane: false, signal: idle() });
    const settled = (ids: string[]) =>
      world.deps.db('webhook_deliveries').whereIn('endpoint_id', ids).where({ status: 'delivered' });
    await eventually(async () => (await settled(healthy.map(({ id }) => id))).length === 100);
    t.is(slow.open, 4, 'as many as the concurrency of one endpoint, still hanging');
    t.is((await settled([hanging.id])).length, 0);
    const report = await running;
    t.deepEqual(report, { delivered: 100, failed: 4, diverted: 16, more: false });
    const rest = await world.deps
      .db('webhook_deliveries')
      .where({ endpoint_id: hanging.id, batch_id: hanging.id, status: 'pending', attempt_count: 0 });
    t.is(rest.length, 16);
    const intents = await world.deps.db('outbox').where({ workflow_id: `webhook-endpoint/${hanging.id}` });
    t.true(intents.length >= 1 && intents.every((intent) => intent.kind === 'signal'));

    // Makes the endpoint answer again. The batch of the endpoint then delivers the 16 pending events.
    slow.respond(204);
    t.deepEqual(await runBatch(engine, hanging.id, { lane: true, signal: idle() }), {
      delivered: 16,
      failed: 0,
      diverted: 0,
      more: false,
    });
    t.is((await settled([hanging.id])).length, 16);
    await slow.stop();
  },
);

test.serial(
  'more hanging requests than a batch makes at once: deliveries behind them arrive before they end',
  async (t) => {
    t.timeout(120_000);
    const slow = await startReceiver({ respond: 'hang' });
    const [noisy, other] = [await world.tenant(), await world.tenant()];
    for (let n = 0; n < 28; n += 1) await createEndpoint(world.deps, noisy.organizationId, slow.url);
    await createEndpoint(world.deps, other.organizationId, receiver.url);
    await emitEvents(world.deps, noisy.organizationId, 4);
    await emitEvents(world.deps, other.organizationId, 1);
    await fanOut(world.deps);
    const batch = newId();
    await world.deps
      .db('webhook_deliveries')
      .whereIn('organization_id', [noisy.organizationId, other.organizationId])
      .update({ batch_id: batch });
    const running = runBatch(engine, batch, { lane: false, signal: idle() });
    await receiver.received(1);
    t.true(slow.open >= 100, `${slow.open} requests still hang`);
    t.is((await running).delivered, 1);
    await slow.stop();
  },
);

test.serial(
  'what is put into an open batch while it runs is delivered by it, and the run ends only when nothing can come',
  async (t) => {
    const { organizationId } = await world.tenant();
    await createEndpoint(world.deps, organizationId, receiver.url);
    const memory = { open: undefined };
    await emitEvents(world.deps, organizationId, 1);
    await fanOut(world.deps, memory);
    const [{ batch_id: batchId }] = await world.deps
      .db('webhook_deliveries')
      .where({ organization_id: organizationId });
    const running = runBatch(engine, batchId, { lane: false, signal: idle() });
    await receiver.received(1);
    for (let n = 0; n < 10; n += 1) {
      await emitEvents(world.deps, organizationId, 2);
      await fanOut(world.deps, memory);
    }
    await running;
    const rows = await world.deps.db('webhook_deliveries').where({ organization_id: organizationId });
    t.is(rows.length, 21);
    // A delivery is either delivered or in another batch. No delivery waits in the closed batch.
    for (const row of rows) t.true(row.status === 'delivered' || row.batch_id !== batchId, JSON.stringify(json(row)));
    t.is(await world.deps.db('webhook_batches').where({ id: batchId }).first(), undefined);
  },
);

test.serial(
  'a batch is open while deliveries come, without another run, until it fails or its process stops',
  async (t) => {
    const own = await createDeliveryEngine(world.deps, createMetrics(), { idleMs: 60_000 });
    const { organizationId } = await world.tenant();
    await createEndpoint(world.deps, organizationId, receiver.url);
    const memory = { open: undefined };
    const emit = async () => {
      await emitEvents(world.deps, organizationId, 1);
      await fanOut(world.deps, memory);
    };
    await world.deps.db('outbox').delete();
    await emit();
    const batches = async (): Promise<string[]> =>
      world.deps.db('webhook_deliveries').where({ organization_id: organizationId }).distinct().pluck('batch_id');
    const [batchId] = await batches();
    const running = runBatch(own, batchId!, { lane: false, signal: idle() });
    await receiver.received(1);
    clock.advance(5_000);
    await emit();
    await receiver.received(2);
    t.is((await world.deps.db('outbox').where({ kind: 'start' })).length, 1);
    own.drain();
    t.like(await running, { delivered: 2, more: false });
    t.is(await world.deps.db('webhook_batches').where({ id: batchId }).first(), undefined);

    await emit();
    const [next] = (await world.deps.db('outbox').where({ kind: 'start' }).orderBy('id', 'desc')).map(
      ({ workflow_id: id }: { workflow_id: string }) => id.split('/')[1]!,
    );
    t.truthy(await world.deps.db('webhook_batches').where({ id: next }).first());
    const broken = {
      ...own,
      watch: () => ({ ...own.watch(next!), more: async () => Promise.reject(new Error('broken')) }),
    };
    await t.throwsAsync(runBatch({ ...broken, idleMs: () => 60_000 }, next!, { lane: false, signal: idle() }));
    t.is(await world.deps.db('webhook_batches').where({ id: next }).first(), undefined, 'closed for new deliveries');
    await own.close();
  },
);
