import test from 'ava';
import { rebuildGroups } from '../domain/reporting/aggregates/groups.ts';
import { rawDb } from '../test/harness/database.ts';
import { createWorld, type World } from '../test/harness/world.ts';
import { copyRows } from './fill.ts';
import { openOffice } from './reports.ts';
import { tablesOf } from './reports-data.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

const WRITTEN = ['contacts', 'send_facts', 'send_groups', 'fact_groups'];

test('the groups of the data set are those that are counted from its emails', async (t) => {
  const shape = { contacts: 200, sends: 3_000, engagements: 0, campaigns: 9 };
  const raw = rawDb(world.deps.db);
  const office = await openOffice(world.deps, shape);
  for (const { table, columns, rows } of tablesOf(shape, office))
    if (WRITTEN.includes(table)) await copyRows(raw, table, columns, rows);

  const groups = async () => ({
    emails: await raw('send_groups').select('send_id', 'sent_at', raw.raw('next_days::text')).orderBy('send_id'),
    counts: await raw('fact_groups')
      .select('dimension', 'key', raw.raw('day::text'), raw.raw('next_day::text'), 'sends')
      .orderBy(['dimension', 'key', 'day', 'next_day']),
  });
  const written = await groups();
  t.is(written.emails.length, 3_000);
  await rebuildGroups(world.deps, office.organizationId);
  t.deepEqual(written, await groups());
});
