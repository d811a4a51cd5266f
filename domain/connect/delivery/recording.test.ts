import test from 'ava';
import { cutConnectionOnce } from '../../../test/harness/cut-connection.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createMetrics } from '../../../lib/metrics.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { startReceiver, type Receiver } from '../../../test/harness/receiver.ts';
import { createEndpoint, emitEvents, fanOut } from '../../../test/harness/webhooks.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { BATCH_CHANNEL } from './channel.ts';
import { createDeliveryEngine, type DeliveryEngine } from './engine.ts';
import { runBatch } from './run-batch.ts';

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

async function run({ batchIds }: Scene): Promise<void> {
  for (const id of batchIds) await runBatch(engine, id, { lane: false, signal: idle() });
}

test.serial('a result that cannot be recorded holds up no other, and what was sent is not sent again', async (t) => {
  const { db } = world.deps;
  await db.raw(
    `create function unrecorded() returns trigger language plpgsql as $$ begin raise exception 'unrecorded'; end $$`,
  );
  for (const status of [204, 503]) {
    receiver.clear();
    receiver.respond(status);
    // Uses few failing deliveries, because an endpoint with many failures would be served by its own batch.
    const s = await scene(status === 204 ? 12 : 4);
    const bad = s.deliveryIds[2]!;
    await db.raw(
      `create trigger unrecorded before insert on webhook_attempts for each row when (new.delivery_id = '${bad}') execute function unrecorded()`,
    );
    await db('outbox').delete();
    await run(s);
    t.is(receiver.requests.length, s.deliveryIds.length);
    for (const id of s.deliveryIds) {
      t.is((await attempts(id)).length, id === bad ? 0 : 1);
      t.like(await delivery(id), { status: status === 204 ? 'delivered' : 'failed', attempt_count: 1 });
      const runs = await db('outbox').where({ workflow_id: `webhook-delivery/${id}` });
      t.is(runs.length, status === 204 ? 0 : 1);
    }
    t.truthy((await endpointRow(s.endpoint.id))[status === 204 ? 'last_success_at' : 'last_failure_at']);
    await db.raw('drop trigger unrecorded on webhook_attempts');
  }
});

test.serial('a batch that fails while requests are under way waits for them, and sends nothing again', async (t) => {
  const { db } = world.deps;
  let answer = () => {};
  const answered = new Promise<void>((resolve) => (answer = resolve));
  receiver.respond(async () => {
    await answered;
    return { status: 204 };
  });
  const s = await scene(3);
  // The first claim searches for deliveries of a crashed worker. The second one claims the three deliveries. The third
  // claim fails while these deliveries are in flight.
  await db.raw(`
    create sequence looks;
    create function look() returns trigger language plpgsql as $$
    begin
      if nextval('looks') = 3 then raise exception 'going away' using errcode = '57P01'; end if;
      return null;
    end $$;
    create trigger look before update on webhook_deliveries for each statement execute function look()`);
  const failed = t.throwsAsync(run(s), { code: '57P01' });
  await receiver.received(3);
  await db.raw('select pg_notify(?, ?)', [BATCH_CHANNEL, s.batchIds[0]!]);
  await eventually(async () => Number((await db('looks').first()).last_value) === 3);
  answer();
  await failed;
  await run(s);
  t.is(receiver.requests.length, 3);
  for (const id of s.deliveryIds) t.like(await delivery(id), { status: 'delivered', attempt_count: 1 });
  await db.raw('drop function look cascade; drop sequence looks');
});

test.serial('results wait for a connection that is lost, and what was sent is not sent again', async (t) => {
  const s = await scene(3);
  const cut = await cutConnectionOnce(world.deps.db, {
    table: 'webhook_deliveries',
    before: 'update',
    where: `new.status = 'delivered'`,
  });
  await run(s);
  t.is(receiver.requests.length, 3);
  for (const id of s.deliveryIds) t.like(await delivery(id), { status: 'delivered', attempt_count: 1 });
  t.true((await cut.times()) > 1);
  await cut.remove();
});
