import test from 'ava';
import { DAY_MS } from '../../../lib/clock.ts';
import { firstIdAt, newId } from '../../../lib/ids.ts';
import { createGoal } from '../../../test/harness/acquisition.ts';
import { createContact } from '../../../test/harness/factories.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { createContacts } from '../contacts/create.ts';
import { updateContact } from '../contacts/update.ts';
import { publishEvent } from '../product-events/publish.ts';
import { sweepExpired } from '../../operations/system/sweep.ts';
import { settlePeople } from './sweep.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

const publish = async (organizationId: string, named: { email?: string; contactId?: string; userId?: string }) =>
  (await publishEvent(world.system(organizationId), { name: 'signed.up', data: {}, ...named })).event;
const contact = (organizationId: string, email: string) =>
  createContact(world.deps.db, world.deps.clock.now(), organizationId, { email });
const stored = (id: string) => world.deps.db('product_events').where({ id }).first();

test.serial('events without a person get it', async (t) => {
  const { db, clock } = world.deps;
  const { organizationId } = await world.tenant();
  const [ada, bob] = [
    await contact(organizationId, 'ada@example.org'),
    await contact(organizationId, 'bob@example.org'),
  ];
  const known = (await publish(organizationId, { contactId: bob })).person_id;
  const rows = Array.from({ length: 2_500 }, (_, n) => ({
    id: newId(),
    organization_id: organizationId,
    contact_id: n % 2 === 0 ? ada : bob,
    name: 'order.paid',
    occurred_at: clock.now(),
    received_at: clock.now(),
  }));
  await db('product_events').insert(rows);
  t.is(await settlePeople(world.deps), 1_250 + 1);
  const people = await db('product_events')
    .where({ organization_id: organizationId })
    .distinct('contact_id', 'person_id');
  t.is(people.length, 2);
  t.is(people.find((row) => row.contact_id === bob)!.person_id, known);
  t.truthy(people.find((row) => row.contact_id === ada)!.person_id);
  t.is(await settlePeople(world.deps), 0);
});

test.serial('an event and the contact’s creation at one moment are brought together', async (t) => {
  const { organizationId } = await world.tenant();
  const event = await publish(organizationId, { email: 'eve@example.org', userId: 'u1' });
  // Creates the state that two concurrent transactions leave if they do not see each other's changes.
  const eve = await contact(organizationId, 'eve@example.org');
  await settlePeople(world.deps);
  t.is((await stored(event.id)).contact_id, eve);
});

test.serial(
  'a contact that cannot be settled keeps no other from its person, and is settled once it can be',
  async (t) => {
    const { db, clock } = world.deps;
    const { organizationId } = await world.tenant();
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c']) ids.push(await contact(organizationId, `${name}@poison.example`));
    const [bad, good, known] = ids.sort() as [string, string, string];
    const person = (await publish(organizationId, { contactId: known })).person_id;
    const event = (contactId: string) => ({
      id: newId(),
      organization_id: organizationId,
      contact_id: contactId,
      name: 'order.paid',
      occurred_at: clock.now(),
      received_at: clock.now(),
    });
    await db('product_events').insert([bad, good, known, known].map(event));
    // Creates the state that two concurrent transactions leave if they do not see each other's changes.
    const apart = await publish(organizationId, { email: 'apart@poison.example', userId: 'apart' });
    const late = await contact(organizationId, 'apart@poison.example');
    const [stuck] = await db('product_events').where({ contact_id: known, person_id: null }).pluck('id');
    await db.raw(
      `create function poisoned() returns trigger language plpgsql as $$ begin raise exception 'poisoned'; end $$`,
    );
    await db.raw(
      `create trigger poisoned before insert on people for each row when (new.contact_id = '${bad}') execute function poisoned()`,
    );
    await db.raw(
      `create trigger poisoned before update on product_events for each row when (new.id = '${stuck}') execute function poisoned()`,
    );
    const failed = await t.throwsAsync(settlePeople(world.deps), { instanceOf: AggregateError });
    t.is(failed.message, '2 of 4 failed');
    const people = async () => {
      const rows = await db('product_events')
        .where({ organization_id: organizationId })
        .select('contact_id', 'person_id');
      return rows.filter((row) => row.person_id === null).map((row) => row.contact_id);
    };
    t.deepEqual((await people()).sort(), [bad, known, known].sort());
    t.is((await stored(apart.id)).contact_id, late);

    await db.raw('drop function poisoned cascade');
    t.is(await settlePeople(world.deps), 3);
    t.deepEqual(await people(), []);
    t.is((await stored(stuck)).person_id, person);
  },
);

test.serial(
  'contacts take over people when they are made in bulk or renamed, and keep their former addresses',
  async (t) => {
    const { organizationId } = await world.tenant();
    const ctx = world.system(organizationId);
    const events = await Promise.all(
      [1, 2, 3].map((n) => publish(organizationId, { email: `p${n}@example.org`, userId: `u${n}` })),
    );
    const [one, two] = await createContacts(ctx, [
      { email: 'p1@example.org' },
      { email: 'p2@example.org' },
      { email: 'new@example.org' },
    ]);
    t.is((await stored(events[0]!.id)).contact_id, one!.id);
    t.is((await stored(events[1]!.id)).contact_id, two!.id);
    t.is((await stored(events[2]!.id)).contact_id, null);
    const changed = await world.deps
      .db('domain_events')
      .where({ organization_id: organizationId, type: 'person.changed' });
    t.deepEqual(
      changed.flatMap(({ data }) => data.person_ids).sort(),
      [events[0]!.person_id, events[1]!.person_id].sort(),
    );

    await updateContact(ctx, one!.id, { email: 'p3@example.org' });
    t.like(await stored(events[2]!.id), { contact_id: one!.id, person_id: events[0]!.person_id });
    t.like(await publish(organizationId, { email: 'p1@example.org' }), {
      contact_id: one!.id,
      person_id: events[0]!.person_id,
    });
    const [unknown] = await createContacts(ctx, [{ email: 'first@example.org' }]);
    await updateContact(ctx, unknown!.id, { email: 'second@example.org' });
    t.is((await publish(organizationId, { email: 'first@example.org' })).contact_id, unknown!.id);
  },
);

test.serial('events go after their retention, conversions stay, and people of whom nothing is left go', async (t) => {
  const { db, clock, config } = world.deps;
  const { organizationId } = await world.tenant();
  const ada = await contact(organizationId, 'ada@example.org');
  const ofAda = await publish(organizationId, { contactId: ada });
  const ofEve = await publish(organizationId, { email: 'eve@example.org', userId: 'u1' });
  const fresh = await publish(organizationId, { contactId: ada });
  const age = (config.ENGAGEMENT_RETENTION_DAYS + 1) * DAY_MS;
  const oldest = firstIdAt(new Date(clock.now().getTime() - age)).slice(0, -1);
  const past = (n: number) => `${oldest}${n}`;
  const goal = await createGoal(world, organizationId, 'custom', { is_primary: false });
  const stamp = { organization_id: organizationId, created_at: clock.now() };
  for (const [index, event] of [ofAda, ofEve].entries())
    await db('product_events')
      .where({ id: event.id })
      .update({ id: past(index) });
  await db('people').insert([
    { ...stamp, id: past(8) },
    { ...stamp, id: past(9) },
  ]);
  await db('product_events')
    .where({ id: fresh.id })
    .update({ person_id: past(9), contact_id: null });
  for (const event of [ofAda, ofEve])
    await db('conversions').insert({
      ...stamp,
      id: newId(),
      goal_id: goal,
      goal_revision: 1,
      event_id: event.id,
      person_id: event.person_id,
      occurred_at: clock.now(),
    });
  await sweepExpired(world.deps);
  t.deepEqual(await db('product_events').where({ organization_id: organizationId }).pluck('id'), [fresh.id]);
  t.is((await db('conversions').where({ organization_id: organizationId })).length, 2);
  t.deepEqual(
    (await db('people').where({ organization_id: organizationId }).pluck('id')).sort(),
    [ofAda.person_id, ofEve.person_id, past(9)].sort(),
  );
});
