import test from 'ava';
import { newId } from '../../../lib/ids.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { publishEvent } from '../product-events/publish.ts';
import { mergePeople } from './merge.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

test('corrections of both stay; the one in force is that of the person, or else that of the other', async (t) => {
  const { organizationId } = await world.tenant();
  const ctx = world.system(organizationId);
  const { db, clock } = world.deps;
  const meet = async (userId: string) => {
    const { event } = await publishEvent(ctx, { name: 'seen', email: `${userId}@example.org`, userId, data: {} });
    return event.person_id!;
  };
  const correct = (person: string, reason: string, isCurrent: boolean) =>
    db('attribution_corrections').insert({
      id: newId(),
      organization_id: organizationId,
      person_id: person,
      action: 'set',
      reason,
      is_current: isCurrent,
      created_at: clock.now(),
    });
  const [ann, bo, cy] = [await meet('ann'), await meet('bo'), await meet('cy')];
  await correct(ann, 'ann before', false);
  await correct(bo, 'bo', true);
  await correct(cy, 'cy', true);
  await transact(ctx, (tx) => mergePeople(tx, ann, bo));
  await transact(ctx, (tx) => mergePeople(tx, ann, cy));
  const rows = await db('attribution_corrections').where({ organization_id: organizationId }).orderBy('reason');
  t.deepEqual(
    rows.map(({ person_id, reason, is_current }) => [person_id === ann, reason, is_current]),
    [
      [true, 'ann before', false],
      [true, 'bo', true],
      [true, 'cy', false],
    ],
  );
});
