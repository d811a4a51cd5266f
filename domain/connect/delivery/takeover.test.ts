import test from 'ava';
import { startReceiver, type Receiver } from '../../../test/harness/receiver.ts';
import { createEndpoint, emitEvents, fanOut } from '../../../test/harness/webhooks.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { createMetrics } from '../../../lib/metrics.ts';
import { claimWebhookDeliveries, holdsClaim } from './claim.ts';
import { createDeliveryEngine, type DeliveryEngine } from './engine.ts';
import { attemptDelivery } from './retry.ts';
import { runBatch } from './run-batch.ts';

let world: World;
let engine: DeliveryEngine;
let receiver: Receiver;
test.before(async () => {
  world = await createWorld();
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

/** Creates a workspace with an endpoint at the receiver, and deliveries that wait in one batch. */
async function scene(count = 1): Promise<{ organizationId: string; deliveryIds: string[]; batchId: string }> {
  const { organizationId } = await world.tenant();
  const endpoint = await createEndpoint(world.deps, organizationId, `${receiver.url}/hook`);
  await emitEvents(world.deps, organizationId, count);
  await fanOut(world.deps);
  const rows = await world.deps.db('webhook_deliveries').where({ endpoint_id: endpoint.id }).orderBy('id');
  return { organizationId, deliveryIds: rows.map(({ id }) => id), batchId: rows[0].batch_id };
}

const run = (batchId: string) => runBatch(engine, batchId, { lane: false, signal: idle() });

/** Ends the claims of all deliveries, as if their attempts had begun long ago. */
const endClaims = () => world.deps.db('webhook_deliveries').update({ claimed_until: world.deps.db.raw('now()') });

/** Returns a promise that resolves when the next attempt reads the claims of other attempts. */
const claimsRead = () =>
  new Promise<void>((resolve) => {
    const { db } = world.deps;
    const notice = ({ sql }: { sql: string }) => {
      if (!sql.includes('min(coalesce(claimed_until')) return;
      db.off('query', notice);
      resolve();
    };
    db.on('query', notice);
  });

test.serial(
  'a second attempt of a batch repeats nothing that the first has in flight, and waits for it or for the end of its claims',
  async (t) => {
    const s = await scene(3);
    const { batchId } = s;
    let open = () => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    receiver.respond(async ({ index }) => {
      if (index <= 3) await gate;
      return { status: 204 };
    });
    const attempt = () => run(batchId);
    const first = attempt();
    await receiver.received(3);
    const secondReads = claimsRead();
    const second = attempt();
    await secondReads;
    open();
    t.is((await first).delivered, 3);
    t.like(await second, { delivered: 0, failed: 0, more: false });
    t.is(receiver.requests.length, 3);

    const later = await scene(2);
    const dead = await claimWebhookDeliveries(world.deps, { batchId: later.batchId, limit: 9, takeOver: false });
    t.is(dead.length, 2);
    const thirdReads = claimsRead();
    const third = run(later.batchId);
    await thirdReads;
    t.is(receiver.requests.length, 3, 'a claim that has not ended is not taken over');
    await endClaims();
    t.is((await third).delivered, 2);
    t.is(receiver.requests.length, 5);
  },
);

test.serial('an attempt whose claim was taken over while its process stood still sends nothing', async (t) => {
  const s = await scene();
  const [id] = s.deliveryIds as [string];
  const [stood] = await claimWebhookDeliveries(world.deps, { batchId: s.batchId, limit: 1, takeOver: false });
  const afterASecond = { ...stood!, claimedAtMs: stood!.claimedAtMs - 1_001 };
  t.true(await holdsClaim(world.deps, afterASecond), 'renewed');
  await endClaims();
  await run(s.batchId);
  t.like(await delivery(id), { status: 'delivered', attempt_count: 2 });
  t.false(await holdsClaim(world.deps, afterASecond));
});

test.serial('a delivery of its own run is taken over when its claim ends', async (t) => {
  const s = await scene();
  const [id] = s.deliveryIds as [string];
  await world.deps.db('webhook_deliveries').where({ id }).update({ batch_id: null });
  const { organizationId } = s;
  const claim = () => claimWebhookDeliveries(world.deps, { deliveryId: id, organizationId });
  const again = () => attemptDelivery(engine, { organizationId, deliveryId: id });
  t.is((await claim()).length, 1);
  t.like(await again(), { state: 'waiting' });
  t.is(receiver.requests.length, 0);
  await endClaims();
  t.like(await again(), { state: 'settled' });
  t.is(receiver.requests.length, 1);
});
