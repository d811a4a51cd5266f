import test from 'ava';
import fc from 'fast-check';
import type { GoalDefinition } from '../../../db/json-columns.ts';
import { newId } from '../../../lib/ids.ts';
import { breakWrites, QUOTED } from '../../../test/harness/broken-writes.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { createContact } from '../../../test/harness/factories.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { react } from '../../../test/harness/reactions.ts';
import { createWorld, type World } from '../../../test/harness/world.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { publishEvent } from '../../audience/product-events/publish.ts';
import { registerSubscribers } from '../../platform/events/register.ts';
import { matchGoals } from './match-goals.ts';
import { replayTask } from '../../operations/dead-letters/dead-letters.ts';
import { compileDefinition } from './compile.ts';
import { createGoal, getGoal, updateGoal } from './goals.ts';
import { matchEvents } from './match-events.ts';
import { meetsDefinition, valueOf } from './match.ts';
import { skipFailingEvents } from './skip-events.ts';
import { replayPage } from './replay-page.ts';
import { cancelReplay, getReplay, listReplays, previewReplay, startReplay } from './replays.ts';
import { assertNowhere } from '../../../test/harness/secrets.ts';

const SUBSCRIBERS = [matchGoals];
const NOON = Date.parse('2026-03-02T12:00:00Z');
const clock = new ManualClock(new Date(NOON));
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
  await registerSubscribers(world.deps, SUBSCRIBERS);
});
test.after.always(() => world?.close());

type Data = { n?: unknown; text?: unknown; total?: unknown };
interface Meaning {
  definition: GoalDefinition;
  counts(name: string, data: Data): boolean;
  /** Value in minor units of euros, or null. */
  value(data: Data): number | null;
}

const PLAIN = { value_path: null, value_unit: 'minor', currency_path: null, default_currency: null } as const;
/** Definitions of goals, each with a handwritten implementation. */
const MEANINGS: Meaning[] = [
  { definition: { event_name: 'a', predicates: [], ...PLAIN }, counts: (name) => name === 'a', value: () => null },
  { definition: { event_name: 'b', predicates: [], ...PLAIN }, counts: (name) => name === 'b', value: () => null },
  {
    definition: { event_name: 'a', predicates: [{ path: 'n', op: 'eq', value: 1 }], ...PLAIN },
    counts: (name, { n }) => name === 'a' && n === 1,
    value: () => null,
  },
  {
    definition: {
      event_name: 'a',
      predicates: [
        { path: 'text', op: 'contains', value: 'Ä' },
        { path: 'n', op: 'neq', value: 2 },
      ],
      ...PLAIN,
      value_path: 'total',
      default_currency: 'EUR',
    },
    counts: (name, { n, text }) => name === 'a' && ['Ä', 'xäx'].includes(text as string) && n !== 2,
    value: ({ total }) => (total === 5 ? 5 : null),
  },
  {
    definition: {
      event_name: 'b',
      predicates: [],
      ...PLAIN,
      value_path: 'total',
      value_unit: 'major',
      default_currency: 'EUR',
    },
    counts: (name) => name === 'b',
    value: ({ total }) => (total === 5 ? 500 : total === 1.15 ? 115 : null),
  },
];

const data: fc.Arbitrary<Data> = fc.record(
  {
    n: fc.constantFrom<unknown>(1, 2, '1', true, null, [1]),
    text: fc.constantFrom<unknown>('Ä', 'xäx', 'abc', 'ß', 7),
    total: fc.constantFrom<unknown>(5, 1.15, 1.155, -5, '5', null),
  },
  { requiredKeys: [] },
);
const minute = fc.integer({ min: 0, max: 12 });
const act = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({
      kind: fc.constant('event' as const),
      name: fc.constantFrom('a', 'b'),
      data,
      minute,
      person: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('edit' as const), meaning: fc.nat(MEANINGS.length - 1) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('react' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('prune' as const), index: fc.nat(20) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('replay' as const),
      from: minute,
      length: fc.integer({ min: 1, max: 13 }),
      limit: fc.integer({ min: 1, max: 4 }),
    }),
  },
);

test.serial('a replay does exactly what its preview says, and both are what the rows say', async (t) => {
  let [replays, changes] = [0, 0];
  await fc.assert(
    fc.asyncProperty(
      fc.array(act, { minLength: 12, maxLength: 30 }),
      fc.nat(MEANINGS.length - 1),
      async (acts, first) => {
        const { organizationId } = await world.tenant();
        const ctx = world.system(organizationId);
        const { db } = world.deps;
        const contacts = await Promise.all([1, 2].map(() => createContact(db, new Date(NOON), organizationId)));
        let meaning = MEANINGS[first]!;
        const goal = await createGoal(ctx, {
          name: 'G',
          kind: 'custom',
          isPrimary: false,
          definition: meaning.definition,
        });
        const readEvents = () => db('product_events').where({ organization_id: organizationId }).orderBy('id');
        const readConversions = () => db('conversions').where({ goal_id: goal.id }).orderBy('event_id');
        for (const [index, each] of acts.entries()) {
          clock.set(new Date(clock.now().getTime() + 1000));
          switch (each.kind) {
            case 'event': {
              const occurredAt = new Date(NOON + each.minute * 60_000);
              const contactId = contacts[index % 2]!;
              if (each.person)
                await publishEvent(ctx, {
                  name: each.name,
                  contactId,
                  data: each.data as Record<string, unknown>,
                  occurredAt,
                });
              else
                await db('product_events').insert({
                  id: newId(),
                  organization_id: organizationId,
                  contact_id: contactId,
                  name: each.name,
                  data: JSON.stringify(each.data),
                  occurred_at: occurredAt,
                  received_at: clock.now(),
                });
              break;
            }
            case 'edit':
              meaning = MEANINGS[each.meaning]!;
              await updateGoal(ctx, goal.id, { definition: meaning.definition });
              break;
            case 'react':
              await react(world.deps, SUBSCRIBERS);
              break;
            case 'prune': {
              const events = await readEvents();
              if (events.length > 0)
                await db('product_events')
                  .where({ id: events[each.index % events.length].id })
                  .delete();
              break;
            }
            case 'replay': {
              const range = {
                from: new Date(NOON + each.from * 60_000),
                to: new Date(NOON + (each.from + each.length) * 60_000),
              };
              const [events, before] = [await readEvents(), await readConversions()];
              const inRange = (row: { occurred_at: Date }) =>
                row.occurred_at >= range.from && row.occurred_at < range.to;
              const stored = new Map(events.map((row) => [row.id as string, row]));
              const standing = new Set(before.map((row) => row.event_id as string));
              const matching = events.filter((row) => inRange(row) && meaning.counts(row.name, row.data));
              const matchingIds = new Set(matching.map((row) => row.id as string));
              const held = before.filter(inRange);
              const expected = {
                scanned: events.filter(
                  (row) => inRange(row) && (row.name === meaning.definition.event_name || standing.has(row.id)),
                ).length,
                wouldAdd: matching.filter((row) => !standing.has(row.id)).length,
                wouldKeep: matching.filter((row) => standing.has(row.id)).length,
                wouldRemove: held.filter((row) => stored.has(row.event_id) && !matchingIds.has(row.event_id)).length,
                retainedWithoutEvent: held.filter((row) => !stored.has(row.event_id)).length,
              };
              t.deepEqual(await previewReplay(ctx, goal.id, range), expected);
              t.deepEqual(await readConversions(), before, 'a preview writes nothing');
              const { id } = await startReplay(ctx, goal.id, range);
              while ((await replayPage(ctx, id, each.limit)).kind === 'more');
              const row = await db('goal_replays').where({ id }).first();
              t.like(row, {
                state: 'completed',
                scanned: expected.scanned,
                added: expected.wouldAdd,
                kept: expected.wouldKeep,
                removed: expected.wouldRemove,
                retained_without_event: expected.retainedWithoutEvent,
              });
              const after = await readConversions();
              const wanted = new Map<string, number | null>(
                matching.map((event) => [event.id, meaning.value(event.data)]),
              );
              for (const conversion of before)
                if (!inRange(conversion) || !stored.has(conversion.event_id))
                  wanted.set(conversion.event_id, conversion.value_minor);
              t.deepEqual(
                new Map(after.map((conversion) => [conversion.event_id, conversion.value_minor])),
                new Map([...wanted].sort(([a], [b]) => (a < b ? -1 : 1))),
              );
              for (const conversion of after) t.is(conversion.currency, conversion.value_minor === null ? null : 'EUR');
              replays += 1;
              changes += expected.wouldAdd + expected.wouldRemove;
              break;
            }
          }
        }
        // A late event does not undo the result of a replay with a later definition.
        const settled = await readConversions();
        await react(world.deps, SUBSCRIBERS);
        const later = await readConversions();
        for (const row of settled)
          t.deepEqual(
            later.find((each) => each.event_id === row.event_id),
            row,
          );
        const people = new Map((await readEvents()).map((row) => [row.id, row.person_id]));
        for (const row of later) if (people.get(row.event_id)) t.is(row.person_id, people.get(row.event_id));
      },
    ),
    // The seed is fixed, so that every run draws the same values and the same number of changes.
    { numRuns: 60, seed: 60 },
  );
  t.true(replays > 10 && changes > 10, `${replays} replays, ${changes} changes`);
});

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('event' as const), name: fc.constantFrom('a', 'b'), data, minute }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('edit' as const), meaning: fc.nat(MEANINGS.length - 1) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('react' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('start' as const),
      from: fc.nat(2),
      length: fc.integer({ min: 8, max: 13 }),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('page' as const), limit: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel' as const) }) },
);

/** An event in a world with interrupted replays, with the latest revision of the goal that has decided about it. */
interface Decided {
  id: string;
  name: string;
  data: Data;
  at: number;
  revision: number;
}

test.serial(
  'each event counts by the version it was received under, or a later one whose replay has passed it',
  async (t) => {
    let [stopped, late] = [0, 0];
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async (steps) => {
        const { organizationId } = await world.tenant();
        const ctx = world.system(organizationId);
        const { db } = world.deps;
        const contactId = await createContact(db, new Date(NOON), organizationId);
        const versions = [MEANINGS[0]!];
        const { id: goalId } = await createGoal(ctx, {
          name: 'G',
          kind: 'custom',
          isPrimary: false,
          definition: versions[0]!.definition,
        });
        const events: Decided[] = [];
        let replay: { id: string; from: number; to: number; revision: number; passed: Decided | null } | null = null;
        const inOrder = (a: Decided, b: Decided) => a.at - b.at || a.id.localeCompare(b.id);
        const isAfter = (event: Decided, place: Decided | null) => place === null || inOrder(event, place) > 0;
        for (const each of steps) {
          clock.set(new Date(clock.now().getTime() + 1000));
          if (each.kind === 'event') {
            const at = NOON + each.minute * 60_000;
            const report = {
              name: each.name,
              contactId,
              data: each.data as Record<string, unknown>,
              occurredAt: new Date(at),
            };
            const { event } = await publishEvent(ctx, report);
            events.push({ id: event.id, name: each.name, data: each.data, at, revision: versions.length });
          } else if (each.kind === 'edit') {
            if (MEANINGS[each.meaning] === versions.at(-1)) continue;
            versions.push(MEANINGS[each.meaning]!);
            await updateGoal(ctx, goalId, { definition: versions.at(-1)!.definition });
          } else if (each.kind === 'react') await react(world.deps, SUBSCRIBERS);
          else if (each.kind === 'start' && !replay) {
            const [from, to] = [NOON + each.from * 60_000, NOON + (each.from + each.length) * 60_000];
            const { id } = await startReplay(ctx, goalId, { from: new Date(from), to: new Date(to) });
            replay = { id, from, to, revision: versions.length, passed: null };
          } else if (each.kind === 'page' && replay) {
            const turn = await replayPage(ctx, replay.id, each.limit);
            const row = await db('goal_replays').where({ id: replay.id }).first();
            const { from, to, revision, passed } = replay;
            const [end] = events.filter(({ id }) => id === row.cursor_id);
            if (turn.why !== 'goal_changed')
              for (const event of events)
                if (event.at >= from && event.at < to && isAfter(event, passed))
                  if (turn.kind === 'done' || !isAfter(event, end ?? null))
                    event.revision = Math.max(event.revision, revision);
            if (turn.kind === 'more') replay.passed = end ?? null;
            else replay = null;
          } else if (each.kind === 'cancel' && replay) {
            await cancelReplay(ctx, replay.id);
            if (replay.passed) stopped += 1;
            replay = null;
          }
        }
        await react(world.deps, SUBSCRIBERS);
        const wanted = events.flatMap(({ id, name, data: given, revision }) => {
          const meaning = versions[revision - 1]!;
          return meaning.counts(name, given) ? [[id, revision, meaning.value(given)]] : [];
        });
        late += wanted.length;
        const stored = await db('conversions').where({ goal_id: goalId });
        t.deepEqual(stored.map((row) => [row.event_id, row.goal_revision, row.value_minor]).sort(), wanted.sort());
      }),
      { numRuns: 40, seed: 40 },
    );
    t.true(stopped > 0 && late > 20, `${stopped} stopped, ${late} conversions`);
  },
);

test.serial('the first page of a replay waits for a reaction to one of its events', async (t) => {
  const { organizationId } = await world.tenant();
  const ctx = world.system(organizationId);
  const { db } = world.deps;
  const contactId = await createContact(db, new Date(NOON), organizationId);
  const [every, some] = [MEANINGS[0]!.definition, MEANINGS[2]!.definition];
  const { id: goalId } = await createGoal(ctx, { name: 'G', kind: 'custom', isPrimary: false, definition: every });
  const { event } = await publishEvent(ctx, { name: 'a', contactId, data: { n: 2 }, occurredAt: new Date(NOON) });
  clock.set(new Date(clock.now().getTime() + 1000));
  await updateGoal(ctx, goalId, { definition: some });
  const { id } = await startReplay(ctx, goalId, { from: new Date(NOON), to: new Date(NOON + 60_000) });
  const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  let page: Promise<unknown> | undefined;
  await transact(ctx, async (tx) => {
    await matchEvents(tx, [event.id]);
    page = replayPage(ctx, id);
    await Promise.race([page, eventually(async () => (await db.raw(waits)).rows.length > 0)]);
  });
  await page;
  t.deepEqual(await db('conversions').where({ goal_id: goalId }), []);
});

test.serial(
  'a definition counts from the moment at which no event is held against the one before any more',
  async (t) => {
    const { organizationId } = await world.tenant();
    const ctx = world.system(organizationId);
    const { db } = world.deps;
    const contactId = await createContact(db, new Date(NOON), organizationId);
    const [every, some] = [MEANINGS[0]!.definition, MEANINGS[2]!.definition];
    const pass = () => clock.set(new Date(clock.now().getTime() + 1000));
    const { id: goalId } = await createGoal(ctx, { name: 'G', kind: 'custom', isPrimary: false, definition: every });
    const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    const waiting = () => eventually(async () => (await db.raw(waits)).rows.length > 0);
    let changes: Promise<{ id: string }>[] = [];
    const events: string[] = [];
    await transact(ctx, async (tx) => {
      await matchEvents(tx, [newId()]);
      changes = [
        updateGoal(ctx, goalId, { definition: some }),
        createGoal(ctx, { name: 'H', kind: 'custom', isPrimary: false, definition: every }),
      ];
      await Promise.race([waiting(), ...changes]);
      pass();
      events.push(
        (await publishEvent(world.system(organizationId), { name: 'a', contactId, data: { n: 2 } })).event.id,
      );
      await matchEvents(tx, events);
      pass();
    });
    const [, other] = await Promise.all(changes);
    const counted = () =>
      db('conversions').where({ organization_id: organizationId }).select('goal_id', 'goal_revision', 'event_id');
    const before = await counted();
    t.deepEqual(before, [{ goal_id: goalId, goal_revision: 1, event_id: events[0] }]);
    await transact(ctx, (tx) => matchEvents(tx, events));
    t.deepEqual(await counted(), before, 'and does so again');
    const [first] = (await getGoal(ctx, other!.id)).revisions;
    t.true(first!.created_at.getTime() > clock.now().getTime() - 1000);
  },
);

/** Creates a goal that matches `count` earlier events, and starts a replay of them. */
async function openFaultyReplay(count: number) {
  const { organizationId } = await world.tenant();
  const ctx = world.system(organizationId);
  const { db } = world.deps;
  const contactId = await createContact(db, new Date(NOON), organizationId);
  const events: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const report = { name: 'a', contactId, data: {}, occurredAt: new Date(NOON + index) };
    events.push((await publishEvent(ctx, report)).event.id);
  }
  const { definition } = MEANINGS[0]!;
  const { id: goalId } = await createGoal(ctx, { name: 'G', kind: 'custom', isPrimary: false, definition });
  const run = async (id: string, limit = 10) => {
    for (;;) {
      const turn = await replayPage(ctx, id, limit).catch(() => skipFailingEvents(ctx, id, limit));
      if (turn?.kind !== 'more') return turn;
    }
  };
  const { id } = await startReplay(ctx, goalId, { from: new Date(NOON), to: new Date(NOON + 60_000) });
  return {
    ctx,
    id,
    goalId,
    events,
    run,
    read: () => getReplay(ctx, goalId, id),
    converted: () => db('conversions').where({ goal_id: goalId }).orderBy('occurred_at').pluck('event_id'),
    letters: () =>
      db('dead_letters').where({ organization_id: organizationId, task_type: 'goal_replay_event' }).orderBy('id'),
  };
}

test.serial(
  'events that keep failing are passed over and named, also side by side and at both ends, and can be tried again',
  async (t) => {
    const { ctx, id, goalId, events, run, read, converted, letters } = await openFaultyReplay(30);
    const bad = [0, 7, 8, 9, 22, 29].map((index) => events[index]!);
    const mend = await breakWrites(world, 'conversions', 'insert', `new.event_id in ('${bad.join("', '")}')`);
    t.deepEqual(await run(id), { kind: 'done', why: 'completed' });
    t.like(await read(), { state: 'completed', scanned: 30, added: 24, kept: 0, removed: 0, passed_over: bad });
    t.deepEqual(
      await converted(),
      events.filter((each) => !bad.includes(each)),
    );
    const named = await letters();
    t.deepEqual(
      named.map(({ payload }) => payload),
      bad.map((event) => ({ replay_id: id, goal_id: goalId, event_id: event })),
    );
    t.true(named.every((letter) => letter.status === 'pending' && letter.next_retry_at === null));
    assertNowhere(t, named[0].last_error, [QUOTED]);
    await mend();
    for (const letter of named) {
      await replayTask(ctx, letter.id);
      const [again] = await listReplays(ctx, goalId);
      t.like(await t.throwsAsync(replayTask(ctx, letter.id)), { code: 'conflict' });
      await run(again!.id);
      t.like(await getReplay(ctx, goalId, again!.id), { state: 'completed', scanned: 1, added: 1, passed_over: [] });
    }
    t.deepEqual(await converted(), events);
    t.deepEqual((await read()).passed_over, bad, 'it did go on without them');
  },
);

test.serial('where no event can be stored none is passed over, nor are more than twenty', async (t) => {
  const all = await openFaultyReplay(22);
  const mendAll = await breakWrites(world, 'conversions', 'insert', 'true');
  t.is(await all.run(all.id), undefined);
  await mendAll();
  t.like(await all.read(), { state: 'queued', scanned: 0, passed_over: [] });
  t.is((await all.letters()).length, 0);
  const many = await openFaultyReplay(44);
  const odd = many.events.filter((_, index) => index % 2 === 1);
  const mendOdd = await breakWrites(world, 'conversions', 'insert', `new.event_id in ('${odd.join("', '")}')`);
  t.is(await many.run(many.id), undefined);
  await mendOdd();
  t.like(await many.read(), { state: 'running', scanned: 41, added: 21, passed_over: odd.slice(0, 20) });
  await many.run(many.id);
  t.like(await many.read(), { state: 'completed', scanned: 44, added: 24 });
});

const amount = fc.oneof(
  fc.constantFrom<unknown>(
    0.07,
    1.1,
    4.35,
    1.005,
    0.1 + 0.2,
    1e21,
    5e-324,
    9007199254740991,
    9007199254740992,
    90071992547409.91,
    '5',
    null,
    true,
  ),
  fc.integer({ min: -5, max: 2_000 }).map((cents) => cents / 100),
  fc.integer({ min: 0, max: 5_000 }).map((mills) => mills / 1000),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const currency = fc.constantFrom<unknown>(
  'USD',
  'usd',
  'jPy',
  'KWD',
  'CLF',
  'HUF',
  'XXX',
  'EURO',
  '',
  'ſek',
  978,
  null,
  undefined,
  ['USD'],
);
const definition: fc.Arbitrary<GoalDefinition> = fc.record({
  event_name: fc.constant('a'),
  predicates: fc.constantFrom<GoalDefinition['predicates']>([], [{ path: 'order.n', op: 'gte', value: 1 }]),
  value_path: fc.constantFrom('total', 'order.total', null),
  value_unit: fc.constantFrom('minor' as const, 'major' as const),
  currency_path: fc.constantFrom('currency', 'order.currency', null),
  default_currency: fc.constantFrom('EUR', 'JPY', null),
});

test.serial('PostgreSQL and TypeScript agree about what events are worth', async (t) => {
  let worth = 0;
  const document = fc.record({ total: amount, currency, order: fc.record({ total: amount, currency, n: fc.nat(2) }) });
  await fc.assert(
    fc.asyncProperty(definition, fc.array(document, { minLength: 30, maxLength: 60 }), async (given, documents) => {
      const stored = documents.map((each) => JSON.parse(JSON.stringify(each)) as unknown);
      const compiled = compileDefinition(given, 'd.data');
      const { rows } = await world.deps.db.raw(
        `select matches, value, case when value is not null then code end as code from (
           select n, ${compiled.matches} as matches, ${compiled.valueMinor('d.code')} as value, code from (
             select d.*, ${compiled.currency} as code
             from (select n, text::jsonb as data from unnest(cast(:documents as text[])) with ordinality as u(text, n)) d) d) v order by n`,
        { ...compiled.bindings, documents: stored.map((each) => JSON.stringify(each)) } as never,
      );
      for (const [index, row] of rows.entries()) {
        const expected = valueOf(given, stored[index]);
        t.deepEqual(
          [row.value, row.code],
          [expected.valueMinor, expected.currency],
          JSON.stringify([given, stored[index]]),
        );
        t.is(row.matches, meetsDefinition(given, { name: 'a', data: stored[index] }));
        if (expected.valueMinor !== null) worth += 1;
      }
    }),
    { numRuns: 100, seed: 100 },
  );
  t.true(worth > 100, `${worth}`);
});
