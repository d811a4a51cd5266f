import test from 'ava';
import { DAY_MS } from '../../../lib/clock.ts';
import { createMetrics } from '../../../lib/metrics.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { startReceiver, type Receiver } from '../../../test/harness/receiver.ts';
import { createEndpoint, emitEvents, fanOut } from '../../../test/harness/webhooks.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { createDeliveryEngine, type DeliveryEngine } from './engine.ts';
import { runBatch } from './run-batch.ts';

const clock = new ManualClock(new Date('2026-03-02T08:00:00Z'));
let world: World;
let engine: DeliveryEngine;
let receiver: Receiver;
test.before(async () => {
  world = await createWorld({ clock, env: { WEBHOOK_ENDPOINT_CONCURRENCY: '4' } });
  engine = await createDeliveryEngine(world.deps, createMetrics(), { idleMs: 1_000 });
  receiver = await startReceiver();
});
test.after.always(async () => {
  await receiver?.stop();
  await engine?.close();
  await world?.close();
});

const idle = () => new AbortController().signal;

test('deliveries to a dead endpoint wait as rows without runs, and one of them is tried at a time', async (t) => {
  const { db } = world.deps;
  const { organizationId } = await world.tenant();
  const { id: endpointId } = await createEndpoint(world.deps, organizationId, `${receiver.url}/hook`);
  await emitEvents(world.deps, organizationId, 40);
  await fanOut(world.deps);
  const [delivery] = await db('webhook_deliveries').where({ endpoint_id: endpointId });
  await db('outbox').delete();
  receiver.respond({ status: 500 });
  await runBatch(engine, delivery.batch_id, { lane: false, signal: idle() });
  const tried = receiver.requests.length;
  t.true(tried < 10, 'the endpoint counts as failing while the rest of the batch has not been tried');
  const runs = await db('outbox').whereLike('workflow_id', 'webhook-delivery/%');
  t.is(runs.length, 4, 'only the failures before that have runs of their own');
  const waiting = () => db('webhook_deliveries').where({ endpoint_id: endpointId, batch_id: endpointId });
  t.is((await waiting()).length, 36);
  t.truthy(
    await db('outbox')
      .where({ workflow_id: `webhook-endpoint/${endpointId}`, kind: 'signal' })
      .first(),
  );

  const probe = () => runBatch(engine, endpointId, { lane: true, signal: idle() });
  const early = await probe();
  t.like(early, { delivered: 0, failed: 0, more: false });
  t.is(receiver.requests.length, tried, 'not before the time of the next probe');
  clock.advance(early.waitMs!);
  const failed = await probe();
  t.like(failed, { delivered: 0, failed: 1, more: false });
  t.is(failed.waitMs, 60_000, 'the pauses grow to a minute');
  t.is(receiver.requests.length, tried + 1);
  t.is((await waiting()).length, 36);
  t.is((await db('outbox').whereLike('workflow_id', 'webhook-delivery/%')).length, 4);

  receiver.respond(204);
  clock.advance(DAY_MS / 2);
  t.deepEqual(await probe(), { delivered: 36, failed: 0, diverted: 0, more: false });
  t.is((await waiting()).length, 0);
  t.like(await db('webhook_endpoints').where({ id: endpointId }).first(), { consecutive_failures: 0, enabled: true });
});
