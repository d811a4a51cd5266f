import test from 'ava';
import fc from 'fast-check';
import { listParked, dropParked, retryParked } from '../domain/operations/system/outbox.ts';
import { silentLogger } from '../lib/log.ts';
import { createTestDatabase, type TestDatabase } from '../test/harness/database.ts';
import { eventually } from '../test/harness/eventually.ts';
import { writeIntents, type Intent } from './dispatch.ts';
import { startRelay, type Relay } from './relay.ts';

let database: TestDatabase;
test.before(async () => {
  database = await createTestDatabase();
});
test.beforeEach(() => database.db('outbox').delete());
test.after.always(() => database?.drop());

const INVALID_ARGUMENT = 3;
const INTERNAL = 13;
const UNAVAILABLE = 14;
const failure = (code: number, message = 'no') => Object.assign(new Error(message), { code });

/** Behaviour of Temporal for one intent: accepts it after some failures, or never. */
interface Fate {
  fails: 'away' | 'answered' | 'for good' | 'always';
  times: number;
}

/** Creates an intent of the test for a workflow. Its number is its position in the workflow's order. */
const intent = (workflow: string, number: number): Intent => ({
  kind: number % 3 === 2 ? 'cancel' : 'signal',
  workflowId: workflow,
  payload: { number } as never,
});

/** Temporal stub that treats each intent as configured, and records the accepted ones in order. */
function gateway(fates: ReadonlyMap<string, Fate>) {
  const taken = new Map<string, number[]>();
  const tries = new Map<string, number>();
  const working = new Set<string>();
  const state = { away: false, overlaps: 0 };
  return {
    taken,
    tries,
    state,
    async carry({ workflowId, payload }: Intent) {
      const { number } = payload as unknown as { number: number };
      const key = `${workflowId}#${number}`;
      if (working.has(workflowId)) state.overlaps += 1;
      working.add(workflowId);
      await new Promise((resolve) => setTimeout(resolve, 1));
      working.delete(workflowId);
      if (state.away) throw failure(UNAVAILABLE);
      const before = tries.get(key) ?? 0;
      tries.set(key, before + 1);
      const fate = fates.get(key);
      if (fate?.fails === 'for good') throw failure(INVALID_ARGUMENT, 'malformed');
      if (fate?.fails === 'always') throw failure(INTERNAL, 'boom');
      if (fate && before < fate.times) throw failure(fate.fails === 'away' ? UNAVAILABLE : INTERNAL);
      taken.set(workflowId, [...(taken.get(workflowId) ?? []), number]);
    },
  };
}

const relays = (count: number, carry: (intent: Intent) => Promise<void>): Promise<Relay[]> =>
  Promise.all(
    Array.from({ length: count }, () =>
      startRelay({ db: database.db, databaseUrl: database.url, carry, log: silentLogger, backoffMs: 1 }),
    ),
  );

const write = (intents: readonly Intent[]) => database.db.transaction((trx) => writeIntents(trx, intents));
const rows = () => database.db('outbox').orderBy('id');

const fateArbitrary: fc.Arbitrary<Fate | undefined> = fc.oneof(
  { weight: 12, arbitrary: fc.constant(undefined) },
  {
    weight: 3,
    arbitrary: fc.record({ fails: fc.constantFrom('away' as const, 'answered' as const), times: fc.nat(4) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      fails: fc.constantFrom('for good' as const, 'always' as const),
      times: fc.constant(Infinity),
    }),
  },
);

test.serial(
  'several relays and a Temporal that fails: order per workflow, exactly the poisoned parked, none lost',
  async (t) => {
    t.timeout(180_000);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fateArbitrary, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 4 }),
        fc.boolean(),
        async (lines, relayCount, chunks, awayAtFirst) => {
          await database.db('outbox').delete();
          const fates = new Map<string, Fate>();
          lines.forEach((line, w) => line.forEach((fate, n) => fate && fates.set(`w${w}#${n}`, fate)));
          const temporal = gateway(fates);
          temporal.state.away = awayAtFirst;
          const running = await relays(relayCount, temporal.carry);
          // Written in several transactions while the relays work, so that a workflow's intents continue in a later
          // batch.
          for (let chunk = 0; chunk < chunks; chunk += 1)
            await write(
              lines.flatMap((line, w) =>
                line.flatMap((_fate, n) => (Math.floor((n * chunks) / 8) === chunk ? [intent(`w${w}`, n)] : [])),
              ),
            );
          if (awayAtFirst) {
            await eventually(async () => (await rows()).some(({ attempts }) => attempts > 0), 10_000, 5);
            const parked = (await rows()).filter(({ parked_at }) => parked_at !== null);
            temporal.state.away = false;
            t.deepEqual(parked, [], 'nothing is parked while Temporal is away');
          }
          const expected = lines.map((line, w) => {
            const poisoned = line.findIndex((fate) => fate?.fails === 'for good' || fate?.fails === 'always');
            const end = poisoned === -1 ? line.length : poisoned;
            return { workflow: `w${w}`, taken: [...Array(end).keys()], left: line.length - end };
          });
          const left = expected.reduce((sum, line) => sum + line.left, 0);
          const stuck = expected.filter((line) => line.left > 0).length;
          await eventually(
            async () => {
              const now = await rows();
              return now.length === left && now.filter(({ parked_at }) => parked_at !== null).length === stuck;
            },
            60_000,
            10,
          );
          await Promise.all(running.map((relay) => relay.stop()));
          for (const { workflow, taken } of expected) t.deepEqual(temporal.taken.get(workflow) ?? [], taken, workflow);
          t.is(temporal.state.overlaps, 0, 'one workflow is in the hands of one relay at a time');
          const now = await rows();
          for (const { workflow, taken, left: rest } of expected) {
            const line = now.filter(({ workflow_id }) => workflow_id === workflow);
            t.is(line.length, rest);
            if (rest === 0) continue;
            t.is((line[0].payload as { number: number }).number, taken.length, 'what is parked is the one that failed');
            t.regex(line[0].last_error, /malformed|boom/);
            t.true(
              line.slice(1).every(({ parked_at, attempts }) => parked_at === null && attempts === 0),
              'those behind wait untried',
            );
          }
        },
      ),
      { numRuns: 15 },
    );
  },
);

test.serial(
  'a parked intent is tried a bounded number of times; an operator retries it, and its line goes on',
  async (t) => {
    const fates = new Map<string, Fate>([['w#1', { fails: 'always', times: Infinity }]]);
    const temporal = gateway(fates);
    const [relay] = await relays(1, temporal.carry);
    await write([intent('w', 0), intent('w', 1), intent('w', 2)]);
    const [parked] = await eventually(async () => {
      const list = await listParked(database.db);
      return list.length > 0 && list;
    });
    t.like(parked, { workflowId: 'w', kind: 'signal', attempts: 10, reason: 'boom', behind: 1 });
    t.is(temporal.tries.get('w#1'), 10);
    fates.delete('w#1');
    await t.throwsAsync(retryParked(database.db, [parked!.id, '0']), {
      code: 'not_found',
      message: /nothing was changed: 0$/,
    });
    t.is(await retryParked(database.db, [parked!.id]), 1);
    await eventually(async () => (await rows()).length === 0);
    t.deepEqual(temporal.taken.get('w'), [0, 1, 2]);
    await relay!.stop();
  },
);

test.serial('a parked intent that an operator gives up lets its line go on without it', async (t) => {
  const temporal = gateway(new Map([['w#0', { fails: 'for good', times: Infinity }]]));
  const [relay] = await relays(1, temporal.carry);
  await write([intent('w', 0), intent('w', 1)]);
  const [parked] = await eventually(async () => {
    const list = await listParked(database.db);
    return list.length > 0 && list;
  });
  t.is(temporal.tries.get('w#0'), 1, 'what is refused for good is not tried again');
  t.is(await dropParked(database.db, [parked!.id]), 1);
  await eventually(async () => (await rows()).length === 0);
  t.deepEqual(temporal.taken.get('w'), [1]);
  await relay!.stop();
});

test.serial('an intent that is meant for later holds up nothing, and is carried in its time', async (t) => {
  const temporal = gateway(new Map());
  await database.db.transaction((trx) => writeIntents(trx, [intent('w', 0)], 0));
  await database.db('outbox').update({ available_at: database.db.raw(`now() + interval '1 second'`) });
  await write([intent('w', 1)]);
  const [relay] = await relays(1, temporal.carry);
  await eventually(async () => (await rows()).length === 1);
  t.deepEqual(temporal.taken.get('w'), [1]);
  await eventually(async () => (await rows()).length === 0);
  t.deepEqual(temporal.taken.get('w'), [1, 0]);
  await relay!.stop();
});
