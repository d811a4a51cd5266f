import test from 'ava';
import type { TestDeps } from '../test/harness/database.ts';
import { declareSubscriber, type Subscriber } from '../domain/platform/events/subscriber.ts';
import { createMetrics, type Metrics } from '../lib/metrics.ts';
import { eventually } from '../test/harness/eventually.ts';
import { createEffects, readEffects, eventsInOrder, recordEffects } from '../test/harness/reactions.ts';
import { emitEvents } from '../test/harness/webhooks.ts';
import { createWorld, type World } from '../test/harness/world.ts';
import { startFanOut } from './fanout.ts';
import { startReactions } from './reactions.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
  await createEffects(world.deps.db);
});
test.after.always(() => world?.close());

/** Starts the fan-out and any number of reaction loops in this process. */
async function start(
  subscribers: readonly Subscriber[],
  processes: number,
): Promise<{ metrics: Metrics; stop(): Promise<void> }> {
  const metrics = createMetrics();
  const fanOut = await startFanOut(world.deps, metrics);
  const running = await Promise.all(
    Array.from({ length: processes }, () => startReactions(world.deps, metrics, subscribers)),
  );
  return {
    metrics,
    async stop() {
      await Promise.all(running.map((each) => each.stop()));
      await fanOut.stop();
    },
  };
}

const applied = (deps: TestDeps, name: string, organizationId: string, count: number) =>
  eventually(async () => (await readEffects(deps.db, name, organizationId)).length >= count);

test.serial('events are applied as they come, by several processes, each once and in order', async (t) => {
  const tenants = await Promise.all([1, 2, 3].map(() => world.tenant()));
  const subscribers = ['first', 'second'].map((name) =>
    declareSubscriber({
      name,
      types: ['role.created'],
      startsFrom: 'now',
      apply: (tx, event) => recordEffects(tx, name, [event]),
    }),
  );
  const running = await start(subscribers, 3);
  for (let round = 0; round < 20; round += 1)
    await Promise.all(tenants.map(({ organizationId }) => emitEvents(world.deps, organizationId, 3, 'role.created')));
  for (const { name } of subscribers)
    for (const { organizationId } of tenants) {
      await applied(world.deps, name, organizationId, 60);
      t.deepEqual(
        await readEffects(world.deps.db, name, organizationId),
        await eventsInOrder(world.deps.db, organizationId, ['role.created']),
      );
    }
  await running.stop();
  t.regex(await running.metrics.registry.metrics(), /heron_reactions_applied_total\{subscriber="first"\} 180/);
});

test.serial('a reaction that hangs holds up its organization, no other one and no other subscriber', async (t) => {
  const [stuck, free] = [await world.tenant(), await world.tenant()];
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const subscribers = [
    declareSubscriber({
      name: 'hanging',
      types: ['role.created'],
      startsFrom: 'now',
      async apply(tx, event) {
        if (event.organizationId === stuck.organizationId) await released;
        await recordEffects(tx, 'hanging', [event]);
      },
    }),
    declareSubscriber({
      name: 'brisk',
      types: ['role.created'],
      startsFrom: 'now',
      apply: (tx, event) => recordEffects(tx, 'brisk', [event]),
    }),
  ];
  const running = await start(subscribers, 1);
  for (const { organizationId } of [stuck, free]) await emitEvents(world.deps, organizationId, 2, 'role.created');
  await applied(world.deps, 'hanging', free.organizationId, 2);
  await applied(world.deps, 'brisk', stuck.organizationId, 2);
  // Events that arrive in the meantime are added to the stream, although another process has claimed the stream.
  await emitEvents(world.deps, stuck.organizationId, 2, 'role.created');
  await applied(world.deps, 'brisk', stuck.organizationId, 4);
  t.deepEqual(await readEffects(world.deps.db, 'hanging', stuck.organizationId), []);
  release();
  await applied(world.deps, 'hanging', stuck.organizationId, 4);
  await running.stop();
  t.pass();
});
