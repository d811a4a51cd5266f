import test from 'ava';
import fc from 'fast-check';
import { newId } from '../../../lib/ids.ts';
import { createGoal } from '../../../test/harness/acquisition.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { createContacts } from '../contacts/create.ts';
import { updateContact } from '../contacts/update.ts';
import { AppError } from '../../../lib/errors.ts';
import { publishEvent } from '../product-events/publish.ts';
import { resolveConflict } from './conflicts.ts';

let world: World;
test.before(async () => {
  world = await createWorld();
});
test.after.always(() => world?.close());

type Step =
  | { do: 'event'; email: number; user: number | undefined; browser: number | undefined }
  | { do: 'contact'; email: number }
  | { do: 'rename'; email: number; to: number }
  | { do: 'resolve'; nth: number; action: 'merge' | 'dismiss' };

const EMAILS = 5;
const address = (n: number) => `p${n}@example.org`;
const nth = (max: number) => fc.integer({ min: 1, max });
const maybe = (max: number) => fc.option(nth(max), { nil: undefined });
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('event' as const), email: nth(EMAILS), user: maybe(3), browser: maybe(2) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('contact' as const), email: nth(EMAILS) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('rename' as const), email: nth(EMAILS), to: nth(EMAILS) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('resolve' as const),
      nth: fc.nat(9),
      action: fc.constantFrom('merge' as const, 'merge' as const, 'dismiss' as const),
    }),
  },
);

interface OracleConflict {
  person: number;
  other: number;
  name: string;
  open: boolean;
}

/** Reference model of people and contacts: people are numbers, and a union-find stores which of them were merged. */
class Oracle {
  readonly parents: number[] = [];
  readonly owners = new Map<string, number>();
  /** `contacts`: contact key by address. `contactOf`: contact key by person. */
  readonly contacts = new Map<string, string>();
  readonly contactOf = new Map<number, string>();
  readonly events: number[] = [];
  conflicts: OracleConflict[] = [];

  find(person: number): number {
    return this.parents[person] === person ? person : this.find(this.parents[person]!);
  }
  owner(name: string): number | undefined {
    const owner = this.owners.get(name);
    return owner === undefined ? undefined : this.find(owner);
  }
  personOf(contact: string): number | undefined {
    for (const [person, whose] of this.contactOf) if (whose === contact) return this.find(person);
    return undefined;
  }
  hasContact(person: number): boolean {
    return this.contactOf.has(this.find(person));
  }
  /** Returns the person of an event; null if the model refuses the event. */
  event(email: string, others: string[]): number | null {
    const contact = this.contacts.get(email);
    const person = this.identify(contact, [`email ${email}`, ...others]);
    if (person !== null) this.events.push(person);
    return person;
  }
  identify(contact: string | undefined, names: string[]): number | null {
    const deciding = names.filter((name) => !name.startsWith('browser')).flatMap((name) => this.owner(name) ?? []);
    let person = contact ? (this.personOf(contact) ?? deciding.find((owner) => !this.hasContact(owner))) : deciding[0];
    const onlyEmail = names.length === 1;
    if (!contact && onlyEmail && (person === undefined || !this.hasContact(person))) return null;
    if (person === undefined) person = this.parents.push(this.parents.length) - 1;
    if (contact) this.contactOf.set(person, contact);
    for (const name of names) {
      const owner = this.owner(name);
      if (owner === undefined) this.owners.set(name, person);
      else if (owner === person) continue;
      else if (contact && name.startsWith('email') && !this.hasContact(owner)) this.merge(person, owner);
      else this.raise(person, owner, name);
    }
    return person;
  }
  raise(person: number, other: number, name: string): void {
    if (!this.conflicts.some((each) => each.person === person && each.other === other && each.name === name))
      this.conflicts.push({ person, other, name, open: true });
  }
  merge(person: number, other: number): void {
    const contact = this.contactOf.get(other);
    this.contactOf.delete(other);
    if (contact) this.contactOf.set(person, contact);
    this.parents[other] = person;
    const renamed = this.conflicts.map((each) => ({
      ...each,
      person: this.find(each.person),
      other: this.find(each.other),
    }));
    this.conflicts = [];
    for (const each of renamed.filter((one) => one.person !== one.other)) {
      const same = this.conflicts.find(
        (one) => one.person === each.person && one.other === each.other && one.name === each.name,
      );
      if (same) same.open &&= each.open;
      else this.conflicts.push(each);
    }
  }
  contact(email: string): void {
    if (this.contacts.has(email)) return;
    const key = `contact ${this.contacts.size} ${email}`;
    this.contacts.set(email, key);
    const owner = this.owner(`email ${email}`);
    if (owner !== undefined && !this.hasContact(owner)) this.contactOf.set(owner, key);
  }
  rename(from: string, to: string): boolean {
    const key = this.contacts.get(from);
    if (!key || this.contacts.has(to)) return false;
    this.contacts.delete(from);
    this.contacts.set(to, key);
    this.identify(key, [`email ${to}`, `email ${from}`]);
    return true;
  }
}

/** Returns the grouping of equal keys, independent of their names. */
const partition = (keys: readonly unknown[]): number[] => keys.map((key) => keys.indexOf(key));
const sorted = <T>(list: T[]): T[] => list.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

test('people after any events, contacts, renamings and decisions are those of an oracle', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const { organizationId } = await world.tenant();
      const ctx = world.system(organizationId);
      const { db, clock } = world.deps;
      const oracle = new Oracle();
      const eventIds: string[] = [];
      const ids: string[] = [];
      const goal = await createGoal(world, organizationId, 'custom', { is_primary: false });
      const stamp = { organization_id: organizationId, created_at: clock.now() };

      const apply = async (each: Step): Promise<void> => {
        if (each.do === 'event') {
          const names = [
            ...(each.user ? [`user ${each.user}`] : []),
            ...(each.browser ? [`browser ${each.browser}`] : []),
          ];
          const person = oracle.event(address(each.email), names);
          const published = await publishEvent(ctx, {
            name: 'a',
            data: {},
            email: address(each.email),
            userId: each.user ? `${each.user}` : undefined,
            anonymousId: each.browser ? `${each.browser}` : undefined,
          }).catch((error: AppError) => error);
          t.is(published instanceof AppError, person === null);
          if (published instanceof AppError) return;
          eventIds.push(published.event.id);
          const { id: event_id, person_id, occurred_at } = published.event;
          await db('conversions').insert({
            ...stamp,
            id: newId(),
            goal_id: goal,
            goal_revision: 1,
            event_id,
            person_id,
            occurred_at,
          });
          // Maps the model's person numbers to the ids of the created people.
          ids[oracle.find(person!)] ??= person_id!;
        } else if (each.do === 'contact') {
          oracle.contact(address(each.email));
          await createContacts(ctx, [{ email: address(each.email) }]);
        } else if (each.do === 'rename') {
          const { id } =
            (await db('contacts')
              .where({ organization_id: organizationId, email: address(each.email) })
              .first('id')) ?? {};
          if (oracle.rename(address(each.email), address(each.to)))
            await updateContact(ctx, id, { email: address(each.to) });
        } else {
          const open = await db('identity_conflicts')
            .where({ organization_id: organizationId, state: 'open' })
            .orderBy('id');
          t.is(open.length, oracle.conflicts.filter((one) => one.open).length);
          const row = open[each.nth % (open.length || 1)];
          if (!row) return;
          const personOf = async (id: string) => {
            const event = await db('product_events').where({ person_id: id }).first('id');
            const index = eventIds.indexOf(event?.id);
            if (index >= 0) return oracle.find(oracle.events[index]!);
            const { kind, value } = await db('person_identifiers').where({ person_id: id }).first();
            return oracle.owner(nameOf(kind, value))!;
          };
          const [person, other] = [await personOf(row.person_id), await personOf(row.other_person_id)];
          const mine = oracle.conflicts.find(
            (one) => one.person === person && one.other === other && one.name === nameOf(row.kind, row.value),
          )!;
          t.truthy(mine);
          const refused = each.action === 'merge' && oracle.hasContact(person) && oracle.hasContact(other);
          const result = await resolveConflict(ctx, row.id, each.action).catch((error: AppError) => error.code);
          t.is(result === 'identity_merge_contacts', refused);
          if (each.action === 'dismiss') mine.open = false;
          else if (!refused) oracle.merge(person, other);
        }
      };
      for (const each of steps) await apply(each);

      const rows = new Map(
        (await db('product_events').where({ organization_id: organizationId })).map((row) => [row.id, row]),
      );
      const conversions = new Map(
        (await db('conversions').where({ organization_id: organizationId })).map((row) => [
          row.event_id,
          row.person_id,
        ]),
      );
      const people = new Map(
        (await db('people').where({ organization_id: organizationId })).map((row) => [row.id, row]),
      );
      const names = await db('person_identifiers').where({ organization_id: organizationId });
      // Compares in one assertion which events and identifiers belong to the same person.
      t.deepEqual(
        partition([...eventIds.map((id) => rows.get(id).person_id), ...names.map((row) => row.person_id)]),
        partition([
          ...oracle.events.map((person) => oracle.find(person)),
          ...names.map((row) => oracle.owner(nameOf(row.kind, row.value))),
        ]),
      );
      t.is(names.length, oracle.owners.size);
      t.is(people.size, new Set(oracle.parents.map((_, person) => oracle.find(person))).size);
      for (const [index, id] of eventIds.entries()) {
        const { person_id, contact_id } = rows.get(id);
        t.is(conversions.get(id), person_id);
        t.is(contact_id, people.get(person_id).contact_id);
        t.is(contact_id !== null, oracle.hasContact(oracle.events[index]!));
      }
      const conflicts = await db('identity_conflicts')
        .where({ organization_id: organizationId })
        .whereNot({ state: 'merged' });
      t.deepEqual(
        sorted(conflicts.map((row) => [nameOf(row.kind, row.value), row.state === 'open'])),
        sorted(oracle.conflicts.map((each) => [each.name, each.open])),
      );
    }),
    { numRuns: 12 },
  );
});

function nameOf(kind: string, value: string): string {
  return `${{ email: 'email', user_id: 'user', anonymous_id: 'browser' }[kind]} ${value}`;
}

test('merges and events at once leave no event without its person', async (t) => {
  const { organizationId } = await world.tenant();
  const ctx = world.system(organizationId);
  const publish = (n: number, user: string, browser: string) =>
    publishEvent(ctx, { name: 'a', data: {}, email: address(n), userId: user, anonymousId: browser });
  for (let round = 0; round < 6; round += 1) {
    for (const n of [1, 2, 3, 4]) await publish(round * 10 + n, `u${round}-${n}`, `a${round}`);
    const open = await world.deps.db('identity_conflicts').where({ organization_id: organizationId, state: 'open' });
    const results = await Promise.allSettled([
      ...open.map(({ id }) => resolveConflict(ctx, id, 'merge')),
      ...[1, 2, 3, 4].flatMap((n) => [
        publish(round * 10 + n, `u${round}-${n}`, `b${round}`),
        publish(round * 10 + n, `u${round}-1`, `a${round}`),
      ]),
      createContacts(ctx, [{ email: address(round * 10 + 2) }]),
    ]);
    for (const result of results)
      if (result.status === 'rejected')
        t.true(['conflict', 'not_found'].includes(result.reason.code), String(result.reason.stack));
  }
  const { db } = world.deps;
  t.deepEqual(await db('product_events').where({ organization_id: organizationId, person_id: null }), []);
  const apart = await db('product_events as e')
    .join('people as p', 'p.id', 'e.person_id')
    .where('e.organization_id', organizationId)
    .whereRaw('e.contact_id is distinct from p.contact_id');
  t.deepEqual(apart, []);
});
