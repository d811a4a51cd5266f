import test from 'ava';
import { createEndpoint, emitEvents, fanOut } from '../../../test/harness/webhooks.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { splitBatch } from './split-batch.ts';
import { message } from '../../../messages/index.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

const CAUSE = Object.assign(new Error('a person@secret.example is in the way'), { code: 'P0001', severity: 'ERROR' });

test('a delivery that cannot even be taken out of its batch keeps no other in it', async (t) => {
  const { db } = world.deps;
  const { organizationId } = await world.tenant();
  const endpoint = await createEndpoint(world.deps, organizationId, 'https://receiver.example.com/hook');
  await emitEvents(world.deps, organizationId, 3);
  await fanOut(world.deps);
  const read = () => db('webhook_deliveries').where({ endpoint_id: endpoint.id }).orderBy('id');
  const [broken, ...others] = await read();
  const batchId: string = broken.batch_id;
  await db.raw(
    `create function broken() returns trigger language plpgsql as $$ begin raise exception 'a person@secret.example'; end $$`,
  );
  await db.raw(
    `create trigger broken before update on webhook_deliveries for each row when (new.id = '${broken.id}') execute function broken()`,
  );
  await t.throwsAsync(splitBatch(world.deps, batchId, CAUSE), { code: 'P0001' });
  t.deepEqual(
    (await read()).map((row) => [row.batch_id, row.status]),
    [[batchId, 'pending'], ...others.map(() => [null, 'pending'])],
  );
  t.is(await db('webhook_batches').where({ id: batchId }).first(), undefined, 'nothing is added to it any more');

  await db.raw('drop function broken cascade');
  t.deepEqual(await splitBatch(world.deps, batchId, CAUSE), { delivered: 0, failed: 0, diverted: 1, more: false });
  for (const row of await read()) {
    t.like(row, { batch_id: null, error_reason: message('connect.batch_failing', { kind: 'PostgreSQL P0001' }) });
    const starts = await db('outbox').where({ workflow_id: `webhook-delivery/${row.id}` });
    t.is(starts.length, 1, 'one run each');
  }
  t.is((await splitBatch(world.deps, batchId, CAUSE)).diverted, 0);
});
