import test from 'ava';
import { ManualClock } from '../../lib/clock.ts';
import { newId } from '../../lib/ids.ts';
import { createDelivery } from '../../test/harness/webhook-rows.ts';
import { createEndpoint } from '../../test/harness/webhooks.ts';
import { createWorld, type World } from '../../test/harness/world.ts';
import { rescueBatches } from './rescue.ts';

const clock = new ManualClock(new Date('2026-03-02T08:00:00Z'));
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
});
test.after.always(() => world?.close());

test('forgotten batches get a run again, each once; what settled, is fresh, or has a run of its own is left alone', async (t) => {
  const { organizationId } = await world.tenant();
  const { id: endpointId } = await createEndpoint(world.deps, organizationId, 'http://127.0.0.1:1/');
  const make = (row: Record<string, unknown>) => createDelivery(world.deps, organizationId, endpointId, row);
  const [shared, settled, fresh] = [newId(), newId(), newId()];
  await make({ status: 'pending', batch_id: shared });
  await make({ status: 'in_flight', batch_id: shared });
  await make({ status: 'pending', batch_id: endpointId });
  await make({ status: 'delivered', batch_id: settled });
  await make({ status: 'failed', batch_id: null });
  clock.advance(29 * 60_000);
  t.is(await rescueBatches(world.deps), 0);
  await make({ status: 'pending', batch_id: fresh });
  clock.advance(2 * 60_000);
  await world.deps.db('outbox').delete();
  t.is(await rescueBatches(world.deps), 2);
  const intents = await world.deps.db('outbox').select('kind', 'workflow_id');
  t.deepEqual(intents.map(({ kind, workflow_id: id }) => `${kind} ${id}`).sort(), [
    `signal webhook-endpoint/${endpointId}`,
    `start webhook-batch/${shared}`,
  ]);
});
