import test from 'ava';
import type { Handle } from '../../../db/connection.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { rawDb } from '../../../test/harness/database.ts';
import { createEffects, readEffects, eventsInOrder, react, recordEffects } from '../../../test/harness/reactions.ts';
import { emitEvents } from '../../../test/harness/webhooks.ts';
import { call, createWorld, type World } from '../../../test/harness/world.ts';
import type { StoredEventType } from '../kernel/events.ts';
import { readiness } from '../../operations/system/readiness.ts';
import { sweepExpired } from '../../operations/system/sweep.ts';
import { MAX_HOPS } from './apply-events.ts';
import { discardParkedEvent, listParkedEvents, replayParkedEvent } from './parked.ts';
import { CONFIRM_MS, confirmSubscribers, registerSubscribers } from './register.ts';
import { reactionStatus } from './status.ts';
import { declareSubscriber, type ReactionEvent, type Subscriber } from './subscriber.ts';
import { message } from '../../../messages/index.ts';

const START = new Date('2026-03-02T08:00:00Z');
const clock = new ManualClock(START);
let world: World;
test.before(async () => {
  world = await createWorld({ clock });
  await createEffects(world.deps.db);
});
test.beforeEach(async () => {
  clock.set(START);
  await world.deps.db('reaction_subscribers').delete();
});
test.after.always(() => world?.close());

/** Ids of events for which the subscriber fails. */
const poison = new Set<string>();
let names = 0;

/** Returns a subscriber that records its events. */
function keeper(options: Partial<Subscriber> & { batches?: string[][] } = {}): Subscriber {
  const name = options.name ?? `keeper_${(names += 1)}`;
  const common = {
    types: ['role.created'] as [StoredEventType],
    startsFrom: 'now' as const,
    maxAttempts: 3,
    ...options,
    name,
  };
  if (options.batches) {
    return declareSubscriber<StoredEventType>({
      ...common,
      apply: undefined,
      async applyBatch(tx, events) {
        options.batches!.push(events.map(({ id }) => id));
        await recordEffects(tx, name, events);
        if (events.some(({ id }) => poison.has(id))) throw new Error('poison in the batch');
      },
    });
  }
  return declareSubscriber<StoredEventType>({
    ...common,
    applyBatch: undefined,
    async apply(tx, event) {
      // The effect is written before the failure, so that only a rollback can undo it.
      await recordEffects(tx, name, [event]);
      if (poison.has(event.id)) throw new Error('poison');
    },
  });
}

const register = async (...subscribers: Subscriber[]): Promise<Subscriber[]> => {
  await registerSubscribers(world.deps, subscribers);
  return subscribers;
};
const emit = (organizationId: string, count: number, type: StoredEventType = 'role.created') =>
  emitEvents(world.deps, organizationId, count, type);
const effects = (subscriber: Subscriber, organizationId: string) =>
  readEffects(world.deps.db, subscriber.name, organizationId);
const readStatus = async ({ name }: Subscriber) =>
  (await reactionStatus(world.deps)).find((each) => each.name === name)!;

test.serial(
  'optional events enter an organization only where they are wanted, and what is wanted later gets none of before',
  async (t) => {
    const { db } = world.deps;
    await db.raw('create table wants (organization_id uuid primary key)');
    const subscriber = keeper({
      types: ['role.created', 'role.deleted'],
      optional: { types: ['role.created'], wanted: 'select from wants w where w.organization_id = n.organization_id' },
    });
    await register(subscriber);
    const [{ organizationId: plain }, { organizationId: other }] = [await world.tenant(), await world.tenant()];
    const roles = (id: string) => emitEvents(world.deps, id, 2, 'role.created');
    const effects = (id: string) => readEffects(db, subscriber.name, id);
    await roles(plain);
    await react(world.deps, [subscriber]);
    t.deepEqual(await db('reaction_streams').where({ subscriber: subscriber.name }), [], 'no transaction, no stream');
    const always = await emitEvents(world.deps, plain, 1, 'role.deleted');
    await react(world.deps, [subscriber]);
    t.deepEqual(await effects(plain), always);
    await roles(plain);
    await db('wants').insert({ organization_id: other });
    const wanted = await roles(other);
    await react(world.deps, [subscriber]);
    t.deepEqual(await effects(other), wanted);
    await db('wants').insert({ organization_id: plain });
    const later = await roles(plain);
    await react(world.deps, [subscriber]);
    t.deepEqual(await effects(plain), [...always, ...later], 'those passed over stay so');
  },
);

test.serial('a payload has the type of its event, and other types and fields do not compile', (t) => {
  declareSubscriber({
    name: 'typed',
    types: ['role.created', 'settings.updated'],
    startsFrom: 'now',
    async apply(_tx, event) {
      if (event.type === 'role.created') t.truthy(event.data.permissions);
      // @ts-expect-error this event has no permissions
      else t.truthy(event.data.permissions);
      // @ts-expect-error it does not take this type
      if (event.type === 'role.deleted') t.fail();
    },
  });
  declareSubscriber({
    name: 'wrong',
    // @ts-expect-error there is no such event
    types: ['role.invented'],
    startsFrom: 'now',
    async apply() {},
  });
  const either: ReactionEvent<'role.created'>['data'] = { role_id: '', name: '', permissions: [] };
  t.truthy(either);
});

test.serial('a subscriber gets the events it takes, in commit order, once, each organization by itself', async (t) => {
  const [one, two] = [await world.tenant(), await world.tenant()];
  const [kept, other] = await register(keeper(), keeper({ types: ['role.deleted'] }));
  for (let round = 0; round < 3; round += 1) {
    await emit(one.organizationId, 2);
    await emit(two.organizationId, 1);
    await emit(one.organizationId, 1, 'role.deleted');
    await react(world.deps, [kept!, other!]);
  }
  for (const { organizationId } of [one, two]) {
    const expected = await eventsInOrder(world.deps.db, organizationId, ['role.created']);
    t.deepEqual(await effects(kept!, organizationId), expected);
    t.deepEqual(
      await effects(other!, organizationId),
      await eventsInOrder(world.deps.db, organizationId, ['role.deleted']),
    );
  }
  t.is((await effects(kept!, one.organizationId)).length, 6);
  t.like(await readStatus(kept!), { lag_events: 0, lag_seconds: 0, failing_organizations: 0, parked_events: 0 });
});

test.serial('what a verb asks PostgreSQL is bounded in time, and only inside its transaction', async (t) => {
  const { organizationId } = await world.tenant();
  const seen: string[] = [];
  const timeout = async (handle: Handle): Promise<string> =>
    (await rawDb(handle).raw("select current_setting('statement_timeout') as ms")).rows[0].ms;
  const subscribers = await register(
    declareSubscriber({
      name: 'bounded',
      types: ['role.created'],
      startsFrom: 'now',
      apply: async (tx) => void seen.push(await timeout(tx.trx)),
    }),
  );
  await emit(organizationId, 1);
  await react(world.deps, subscribers);
  t.deepEqual(seen, ['15s']);
  t.is(await timeout(world.deps.db), '0');
});

test.serial(
  'a new subscriber begins with now or with the oldest event; registering again changes nothing',
  async (t) => {
    const { organizationId } = await world.tenant();
    const [before] = await emit(organizationId, 1);
    await react(world.deps, []);
    const subscribers = await register(keeper(), keeper({ startsFrom: 'beginning' }));
    const [now, beginning] = subscribers as [Subscriber, Subscriber];
    const [after] = await emit(organizationId, 1);
    await react(world.deps, subscribers);
    await register(...subscribers);
    await react(world.deps, subscribers);
    t.deepEqual(await effects(now, organizationId), [after]);
    t.deepEqual(await effects(beginning, organizationId), [before, after]);
  },
);

test.serial(
  'a batch gets what there is in one call; one event that fails is left alone with its failure',
  async (t) => {
    const { organizationId } = await world.tenant();
    const batches: string[][] = [];
    const [kept] = (await register(keeper({ batches }))) as [Subscriber];
    const ids = await emit(organizationId, 7);
    await react(world.deps, [kept]);
    t.deepEqual(batches, [ids]);

    const more = await emit(organizationId, 8);
    poison.add(more[5]!);
    await react(world.deps, [kept]);
    t.deepEqual(await effects(kept, organizationId), [...ids, ...more.slice(0, 5)]);
    t.like(await readStatus(kept), { failing_organizations: 1, parked_events: 0, lag_events: 3 });
    poison.clear();
    clock.advance(1_000);
    await react(world.deps, [kept]);
    t.deepEqual(await effects(kept, organizationId), [...ids, ...more]);
  },
);

test.serial(
  'an organization that fails stops neither another nor another subscriber, and is tried again later and later',
  async (t) => {
    const [bad, good] = [await world.tenant(), await world.tenant()];
    const subscribers = (await register(keeper({ maxAttempts: 4 }), keeper({ batches: [] }))) as [
      Subscriber,
      Subscriber,
    ];
    const [failing, other] = subscribers;
    const [first, second, third] = await emit(bad.organizationId, 3);
    const theirs = await emit(good.organizationId, 3);
    const { apply } = failing;
    let isIll = true;
    const sick = {
      ...failing,
      async apply(...args: Parameters<NonNullable<typeof apply>>) {
        await apply!(...args);
        if (args[1].id === second && isIll) throw new Error('the reaction is ill');
      },
    } as Subscriber;
    const turn = () => react(world.deps, [sick, other]);
    await turn();
    t.deepEqual(await effects(failing, bad.organizationId), [first]);
    t.deepEqual(await effects(failing, good.organizationId), theirs);
    t.deepEqual(await effects(other, bad.organizationId), [first, second, third]);
    const stream = () =>
      world.deps
        .db('reaction_streams')
        .where({ subscriber: failing.name, organization_id: bad.organizationId })
        .first();
    for (const [index, waitMs] of [1_000, 2_000, 4_000].entries()) {
      t.like(await stream(), {
        attempts: index + 1,
        last_error: 'the reaction is ill',
        next_attempt_at: new Date(clock.now().getTime() + waitMs),
      });
      clock.advance(waitMs - 1);
      await turn();
      t.is((await stream()).attempts, index + 1, 'not before its time');
      clock.advance(1);
      isIll = index < 2;
      await turn();
    }
    t.deepEqual(await effects(failing, bad.organizationId), [first, second, third]);
    t.like(await readStatus(failing), { failing_organizations: 0, lag_events: 0, parked_events: 0 });
  },
);

/** Emits `count` events; the second one fails until it is parked. */
async function park(kept: Subscriber, organizationId: string, count = 3): Promise<{ ids: string[]; parkedId: string }> {
  const ids = await emit(organizationId, count);
  poison.add(ids[1]!);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await react(world.deps, [kept]);
    clock.advance(10_000);
  }
  const parked = await listParkedEvents(world.deps);
  t_like(parked.at(-1)!, ids[1]!, kept.name);
  return { ids, parkedId: parked.at(-1)!.id };
}

function t_like(parked: Awaited<ReturnType<typeof listParkedEvents>>[number], eventId: string, name: string): void {
  if (parked.event_id !== eventId || parked.subscriber !== name || parked.attempts !== 3)
    throw new Error(`parked is ${JSON.stringify(parked)}`);
}

test.serial('after its attempts an event is parked and later ones pass; a replay applies it once', async (t) => {
  const { organizationId, apiKey } = await world.tenant();
  const [kept] = (await register(keeper())) as [Subscriber];
  const { ids, parkedId } = await park(kept, organizationId);
  t.deepEqual(await effects(kept, organizationId), [ids[0], ids[2]]);
  t.like(await readStatus(kept), {
    parked_events: 1,
    failing_organizations: 0,
    waiting_organizations: 0,
    lag_events: 0,
  });
  const checks = async () => {
    const { body } = await call(world, 'GET', '/v1/system/readiness', { token: apiKey });
    return body.checks.find((check: { name: string }) => check.name === 'parked_events');
  };
  t.like(await checks(), { ok: false, detail: `${kept.name} has parked 1 event` });
  t.regex((await checks()).fix, /heron reactions/);

  await t.throwsAsync(replayParkedEvent(world.deps, [kept], parkedId), { message: 'poison' });
  t.like((await listParkedEvents(world.deps))[0], { id: parkedId, attempts: 4, last_error: 'poison' });
  await t.throwsAsync(replayParkedEvent(world.deps, [], parkedId), { message: /no subscriber/ });
  t.deepEqual(await effects(kept, organizationId), [ids[0], ids[2]], 'a replay that fails does nothing');
  poison.clear();
  await Promise.allSettled([1, 2, 3].map(() => replayParkedEvent(world.deps, [kept], parkedId)));
  t.deepEqual(await effects(kept, organizationId), [ids[0], ids[2], ids[1]]);
  await t.throwsAsync(replayParkedEvent(world.deps, [kept], parkedId), { code: 'conflict' });
  await t.throwsAsync(discardParkedEvent(world.deps, 'nonsense'), { code: 'not_found' });
  t.is((await listParkedEvents(world.deps)).length, 0);
  t.like(await checks(), { ok: true });
});

test.serial('where an event means nothing without the one before, later ones wait for the replay', async (t) => {
  const [{ organizationId }, good] = [await world.tenant(), await world.tenant()];
  const [kept] = (await register(keeper({ afterParking: 'wait' }))) as [Subscriber];
  const { ids, parkedId } = await park(kept, organizationId);
  const later = await emit(organizationId, 1);
  const theirs = await emit(good.organizationId, 1);
  await react(world.deps, [kept]);
  t.deepEqual(await effects(kept, organizationId), [ids[0]]);
  t.deepEqual(await effects(kept, good.organizationId), theirs);
  t.like(await readStatus(kept), { waiting_organizations: 1, lag_events: 3, lag_seconds: 0 });
  poison.clear();
  await replayParkedEvent(world.deps, [kept], parkedId);
  await react(world.deps, [kept]);
  t.deepEqual(await effects(kept, organizationId), [...ids, ...later]);

  const again = await park(kept, organizationId);
  await discardParkedEvent(world.deps, again.parkedId);
  await react(world.deps, [kept]);
  t.deepEqual((await effects(kept, organizationId)).slice(4), [again.ids[0], again.ids[2]]);
  poison.clear();
});

test.serial('reactions that answer each other without end are stopped and parked', async (t) => {
  const { organizationId } = await world.tenant();
  const answer = (name: string, takes: 'role.created' | 'role.deleted', gives: 'role.created' | 'role.deleted') =>
    declareSubscriber<StoredEventType>({
      name,
      types: [takes],
      startsFrom: 'now',
      async apply(tx, event) {
        await recordEffects(tx, name, [event]);
        tx.emit(gives, { role_id: event.id, name, permissions: [] } as never);
      },
    });
  const lenient = { ...world.deps, strictEvents: false };
  const subscribers = await register(
    answer('ping', 'role.created', 'role.deleted'),
    answer('pong', 'role.deleted', 'role.created'),
  );
  await emit(organizationId, 1);
  for (let turn = 0; turn < 2 * MAX_HOPS; turn += 1) await react(lenient, subscribers);
  const [parked, ...others] = await listParkedEvents(world.deps);
  t.deepEqual(others, []);
  t.regex(parked!.last_error, /A loop: this role.created came from 16 reactions in a row/);
  t.is(parked!.attempts, 1, 'a loop is not tried again');
  const done = await Promise.all(subscribers.map((each) => effects(each, organizationId)));
  t.is(done.flat().length, MAX_HOPS);
});

test.serial(
  'a process whose build takes other types leaves a subscriber to the processes of the latest build',
  async (t) => {
    const { organizationId } = await world.tenant();
    const [old] = (await register(keeper({ name: 'evolving' }))) as [Subscriber];
    const [first] = await emit(organizationId, 1);
    await react(world.deps, [old]);
    const [wider] = (await register(keeper({ name: 'evolving', types: ['role.created', 'role.deleted'] }))) as [
      Subscriber,
    ];
    const second = await emit(organizationId, 1, 'role.deleted');
    await react(world.deps, [old]);
    t.deepEqual(await effects(old, organizationId), [first]);
    await react(world.deps, [wider]);
    t.deepEqual(await effects(old, organizationId), [first, ...second]);
  },
);

test.serial(
  'a process of the last release that starts in the middle of a roll-out takes nothing back, and after one of a release that is gone others go on',
  async (t) => {
    const { organizationId } = await world.tenant();
    const old = keeper({ name: 'rolled' });
    const wider = keeper({ name: 'rolled', types: ['role.created', 'role.deleted'] });
    const pass = (ms: number) => clock.set(new Date(clock.now().getTime() + ms));
    await registerSubscribers(world.deps, [old], 1);
    await registerSubscribers(world.deps, [wider], 2);
    await registerSubscribers(world.deps, [old], 1);
    await confirmSubscribers(world.deps, [old], 1);
    const added = await emit(organizationId, 1, 'role.deleted');
    await react(world.deps, [old]);
    await react(world.deps, [wider]);
    t.deepEqual(await effects(wider, organizationId), added);

    // After a rollback, processes of the old release continue once no newer process has confirmed for three minutes.
    pass(2 * CONFIRM_MS);
    await confirmSubscribers(world.deps, [wider], 2);
    pass(3 * CONFIRM_MS + 1);
    await confirmSubscribers(world.deps, [old], 1);
    const back = await emit(organizationId, 1);
    await react(world.deps, [wider]);
    t.deepEqual(await effects(wider, organizationId), added, 'the newer release is skipped now');
    await react(world.deps, [old]);
    t.deepEqual(await effects(old, organizationId), [...added, ...back]);

    // Simulates a release without build numbers, which takes over at every start. Once its process has stopped, the
    // newer process continues.
    await world.deps.db('reaction_subscribers').where({ name: 'rolled' }).update({ build: 2 });
    pass(3 * CONFIRM_MS + 1);
    await confirmSubscribers(world.deps, [wider], 2);
    const again = await emit(organizationId, 1, 'role.deleted');
    await react(world.deps, [wider]);
    t.deepEqual(await effects(wider, organizationId), [...added, ...back, ...again]);
  },
);

test.serial(
  'the sweep leaves events that are still to be applied or replayed, and removes cursors of subscribers that are gone',
  async (t) => {
    const DAY_MS = 86_400_000;
    // Ids contain the time of the machine's clock, so the test's clock must match.
    clock.set(new Date());
    const { organizationId } = await world.tenant();
    const other = await world.tenant();
    const [kept, gone] = (await register(keeper(), keeper())) as [Subscriber, Subscriber];
    const left = async () =>
      (await world.deps
        .db('domain_events')
        .whereIn('organization_id', [organizationId, other.organizationId])
        .orderBy('id')
        .pluck('id')) as string[];
    await world.deps.db('domain_events').delete();
    const { ids, parkedId } = await park(kept, organizationId);
    const [late] = await emit(other.organizationId, 1);
    // Advances the clock past the following month and EVENT_RETENTION_DAYS.
    clock.set(new Date(Date.UTC(clock.now().getUTCFullYear(), clock.now().getUTCMonth() + 2) + 31 * DAY_MS));
    // The sweep runs without these subscribers, as in another build. Simulates a process that confirms `kept`.
    const alive = () =>
      world.deps.db('reaction_subscribers').where({ name: kept.name }).update({ seen_at: clock.now() });
    await alive();
    await sweepExpired(world.deps);
    t.deepEqual(await world.deps.db('reaction_subscribers').pluck('name'), [kept.name]);
    t.falsy(await readStatus(gone));
    const all = [...ids, late];
    t.deepEqual(await left(), all, 'a month stays whole: one is parked, one has no position');
    await react(world.deps, []);
    await sweepExpired(world.deps);
    t.deepEqual(await left(), all, 'the subscriber has not been moved on');
    await react(world.deps, [kept]);
    t.deepEqual(await effects(kept, other.organizationId), [late]);
    await sweepExpired(world.deps);
    t.deepEqual(await left(), all, 'one is parked still');
    poison.clear();
    await replayParkedEvent(world.deps, [kept], parkedId);
    await sweepExpired(world.deps);
    t.deepEqual(await left(), []);
  },
);

test.serial('readiness says when events get no position and when a subscriber is late', async (t) => {
  const { organizationId } = await world.tenant();
  const [kept] = (await register(keeper())) as [Subscriber];
  const checks = async () => {
    const { checks: all } = await readiness(world.system(organizationId));
    return Object.fromEntries(all.map((check) => [check.name, check]));
  };
  await emit(organizationId, 1);
  clock.advance(61_000);
  t.like(await checks(), { event_stream: { ok: false }, reactions: { ok: true } });
  await react(world.deps, []);
  t.like(await checks(), {
    event_stream: { ok: true },
    reactions: { ok: false, detail: message('ready.reactions_late', { subscriber: kept.name, seconds: 61 }) },
  });
  t.like(await readStatus(kept), { lag_events: 1, lag_seconds: 61 });
  await react(world.deps, [kept]);
  t.like(await checks(), { reactions: { ok: true } });
});

test.serial('what is kept of a failed statement holds none of its values', async (t) => {
  const { organizationId } = await world.tenant();
  const [kept] = (await register(keeper({ maxAttempts: 2 }))) as [Subscriber];
  const secret = 'person@secret.example';
  const failing = {
    ...kept,
    apply: async (tx) =>
      void (await tx.org.sql('select cast(:secret::text as uuid) where :org::text is not null', { secret })),
  } as Subscriber;
  await emit(organizationId, 1);
  await react(world.deps, [failing]);
  const stream = await world.deps
    .db('reaction_streams')
    .where({ subscriber: kept.name, organization_id: organizationId })
    .first();
  t.is(stream.last_error, 'PostgreSQL 22P02');
  clock.advance(10_000);
  await react(world.deps, [failing]);
  const parked = (await listParkedEvents(world.deps)).find((each) => each.organization_id === organizationId)!;
  t.is(parked.last_error, 'PostgreSQL 22P02');
  await t.throwsAsync(replayParkedEvent(world.deps, [failing], parked.id));
  const [again] = (await listParkedEvents(world.deps)).filter(({ id }) => id === parked.id);
  t.like(again, { attempts: 3, last_error: 'PostgreSQL 22P02' });
});
