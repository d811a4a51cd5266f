import test from 'ava';
import fc from 'fast-check';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createContact } from '../../../test/harness/factories.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { publishEvent } from '../product-events/publish.ts';

const NOON = new Date('2026-03-02T12:00:00Z');
const clock = new ManualClock(NOON);
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
});
test.after.always(() => world?.close());

interface Named {
  email?: string;
  contactId?: string;
  userId?: string;
  anonymousId?: string;
}

const publish = async (organizationId: string, named: Named) =>
  (await publishEvent(world.system(organizationId), { name: 'signed.up', data: {}, ...named })).event;
const contact = (organizationId: string, email: string) =>
  createContact(world.deps.db, NOON, organizationId, { email });
const identifiersOf = async (personId: string | null) =>
  (await world.deps.db('person_identifiers').where({ person_id: personId }).orderBy(['kind', 'value'])).map(
    (row) => `${row.kind}:${row.value}`,
  );
const conflictsOf = (organizationId: string) =>
  world.deps.db('identity_conflicts').where({ organization_id: organizationId }).orderBy('id');

test('an event of a contact links what it names to one person', async (t) => {
  const { organizationId } = await world.tenant();
  const ada = await contact(organizationId, 'ada@example.org');
  const first = await publish(organizationId, { contactId: ada });
  t.is(first.contact_id, ada);
  t.deepEqual(await identifiersOf(first.person_id), ['email:ada@example.org']);
  const second = await publish(organizationId, { email: 'Ada@Example.org', userId: 'u1', anonymousId: 'a1' });
  t.is(second.person_id, first.person_id);
  t.deepEqual(await identifiersOf(first.person_id), ['anonymous_id:a1', 'email:ada@example.org', 'user_id:u1']);
  const other = await publish(organizationId, { email: 'ada@home.test', userId: 'u1' });
  t.like(other, { person_id: first.person_id, contact_id: ada }, 'a user id says whose an unknown email is');
  t.is(
    (await publish(organizationId, { email: 'ada@home.test' })).contact_id,
    ada,
    'and the email is known from then on',
  );
  t.deepEqual(await conflictsOf(organizationId), []);
});

test('a person without a contact needs a user id or an anonymous id', async (t) => {
  const { organizationId } = await world.tenant();
  const unknown = { code: 'event_contact_not_found' };
  await t.throwsAsync(publish(organizationId, { email: 'eve@example.org' }), unknown);
  const event = await publish(organizationId, { email: 'eve@example.org', userId: 'u1' });
  t.is(event.contact_id, null);
  t.is((await publish(organizationId, { email: 'eve@example.org', anonymousId: 'a1' })).person_id, event.person_id);
  await t.throwsAsync(publish(organizationId, { email: 'eve@example.org' }), unknown, 'there still is no contact');
  await t.throwsAsync(publish(organizationId, { contactId: event.person_id!, userId: 'u1' }), unknown);
  t.is((await world.deps.db('product_events').where({ person_id: event.person_id })).length, 2);
  const elsewhere = (await world.tenant()).organizationId;
  t.not((await publish(elsewhere, { email: 'eve@example.org', userId: 'u1' })).person_id, event.person_id);
});

test('a contact takes over the person that has its email, or else its user id', async (t) => {
  const { organizationId } = await world.tenant();
  const before = await publish(organizationId, { email: 'eve@example.org', userId: 'u1' });
  const eve = await contact(organizationId, 'eve@example.org');
  const after = await publish(organizationId, { email: 'eve@example.org' });
  t.like(after, { person_id: before.person_id, contact_id: eve });
  t.is((await world.deps.db('product_events').where({ id: before.id }).first()).contact_id, eve);

  const home = await publish(organizationId, { email: 'bob@home.test', userId: 'u2' });
  const bob = await contact(organizationId, 'bob@work.test');
  t.like(await publish(organizationId, { contactId: bob, userId: 'u2' }), {
    person_id: home.person_id,
    contact_id: bob,
  });
  t.deepEqual(await conflictsOf(organizationId), []);
  t.is(
    (await world.deps.db('domain_events').where({ organization_id: organizationId, type: 'person.changed' })).length,
    2,
  );
});

test('an identifier of another person is a conflict, raised once; a browser does not decide whose an event is', async (t) => {
  const { organizationId } = await world.tenant();
  const ada = await contact(organizationId, 'ada@example.org');
  const mine = await publish(organizationId, { contactId: ada, userId: 'u1', anonymousId: 'a1' });
  for (let times = 0; times < 2; times += 1) {
    const bob = await publish(organizationId, { email: 'bob@example.org', anonymousId: 'a1' });
    t.not(bob.person_id, mine.person_id);
    const [conflict, ...more] = await conflictsOf(organizationId);
    t.deepEqual(more, []);
    t.like(conflict, { person_id: bob.person_id, other_person_id: mine.person_id, kind: 'anonymous_id', value: 'a1' });
    t.is(conflict.state, times === 0 ? 'open' : 'dismissed');
    await world.deps.db('identity_conflicts').where({ id: conflict.id }).update({ state: 'dismissed' });
  }
});

test('the first event takes the events along that the contact had before people were known', async (t) => {
  const { organizationId } = await world.tenant();
  const ada = await contact(organizationId, 'ada@example.org');
  const first = await publish(organizationId, { contactId: ada });
  await world.deps.db('product_events').where({ id: first.id }).update({ person_id: null });
  await world.deps.db('people').where({ id: first.person_id }).delete();
  const next = await publish(organizationId, { contactId: ada });
  t.not(next.person_id, first.person_id);
  t.is((await world.deps.db('product_events').where({ id: first.id }).first()).person_id, next.person_id);
});

test.serial(
  'events that name crossing identifiers at once neither deadlock nor fail, and every identifier has one person',
  async (t) => {
    const pick = (letter: string) =>
      fc.option(
        fc.integer({ min: 1, max: 3 }).map((n) => `${letter}${n}`),
        { nil: undefined },
      );
    const named = fc.record({ email: fc.integer({ min: 1, max: 4 }), userId: pick('u'), anonymousId: pick('a') });
    await fc.assert(
      fc.asyncProperty(fc.array(named, { minLength: 4, maxLength: 16 }), async (drawn) => {
        const { organizationId } = await world.tenant();
        // Two of the four emails belong to contacts.
        for (const n of [1, 2]) await contact(organizationId, `p${n}@example.org`);
        const events = drawn.filter(({ email, userId, anonymousId }) => email <= 2 || userId || anonymousId);
        const stored = await Promise.all(
          events.map(({ email, userId, anonymousId }) =>
            publish(organizationId, {
              email: `p${email}@example.org`,
              ...(userId ? { userId } : {}),
              ...(anonymousId ? { anonymousId } : {}),
            }),
          ),
        );
        const rows = await world.deps.db('product_events').where({ organization_id: organizationId });
        t.is(rows.length, stored.length);
        const people = new Map(
          (await world.deps.db('people').where({ organization_id: organizationId })).map((row) => [row.id, row]),
        );
        for (const row of rows) t.is(people.get(row.person_id)?.contact_id, row.contact_id);
        t.is(new Set([...people.values()].map((row) => row.contact_id ?? row.id)).size, people.size);
        const owners = new Map(
          (await world.deps.db('person_identifiers').where({ organization_id: organizationId })).map((row) => [
            `${row.kind}:${row.value}`,
            row.person_id,
          ]),
        );
        const conflicts = await conflictsOf(organizationId);
        for (const [index, { email, userId, anonymousId }] of events.entries()) {
          const person = rows.find((row) => row.id === stored[index]!.id).person_id;
          const names = [
            `email:p${email}@example.org`,
            userId && `user_id:${userId}`,
            anonymousId && `anonymous_id:${anonymousId}`,
          ];
          for (const name of names.filter((each) => each !== undefined)) {
            const owner = owners.get(name);
            const known =
              owner === person ||
              conflicts.some(
                (row) =>
                  row.person_id === person && row.other_person_id === owner && `${row.kind}:${row.value}` === name,
              );
            t.true(known, `${name} is the person's, or in conflict`);
          }
        }
      }),
      { numRuns: 15 },
    );
  },
);
