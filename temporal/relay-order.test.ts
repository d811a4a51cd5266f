import test from 'ava';
import fc from 'fast-check';
import { listParked, dropParked, retryParked } from '../domain/operations/system/outbox.ts';
import { silentLogger } from '../lib/log.ts';
import { createTestDatabase, type TestDatabase } from '../test/harness/database.ts';
import { eventually } from '../test/harness/eventually.ts';
import { writeIntents, type Intent } from './dispatch.ts';
import { relayBatch, startRelay, type Relay } from './relay.ts';

let database: TestDatabase;
test.before(async () => {
  database = await createTestDatabase();
});
test.beforeEach(() => database.db('outbox').delete());
test.after.always(() => database?.drop());

const INVALID_ARGUMENT = 3;
const OUT_OF_RANGE = 11;
const UNAVAILABLE = 14;
/** gRPC codes that are no refusal of the intent: CANCELLED, UNKNOWN, DEADLINE_EXCEEDED, and so on. */
const NO_VERDICTS = [1, 2, 4, 5, 7, 8, 9, 10, 12, 13, UNAVAILABLE, 15, 16];
const failure = (code: number, message = 'no') => Object.assign(new Error(message), { code });

/** Planned behaviour of the Temporal stub for one intent: it accepts the intent after some failures, or never. */
interface Fate {
  fails: 'away' | 'answered' | 'for good' | 'always';
  times: number;
}

/** Creates an intent for a workflow. `number` is its position in the order of the workflow's intents. */
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
      if (fate?.fails === 'always') throw failure(OUT_OF_RANGE, 'boom');
      if (fate && before < fate.times) throw failure(fate.fails === 'away' ? UNAVAILABLE : OUT_OF_RANGE);
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
          // Writes the intents in several transactions while the relays work, so that a workflow's intents are in
          // different batches.
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
  'Temporal answers for five workflows with nothing but errors: none is parked, others go on, all go on by themselves',
  async (t) => {
    t.timeout(180_000);
    const silent = new Set(['w0', 'w1', 'w2', 'w3', 'w4']);
    const taken = new Map<string, number[]>();
    let calls = 0;
    const carry = async ({ workflowId, payload }: Intent) => {
      if (silent.has(workflowId)) throw failure(NO_VERDICTS[calls++ % NO_VERDICTS.length]!, 'no shard');
      const { number } = payload as unknown as { number: number };
      taken.set(workflowId, [...(taken.get(workflowId) ?? []), number]);
    };
    const running = await relays(2, carry);
    const all = Array.from({ length: 8 }, (_, n) => `w${n}`);
    for (let number = 0; number < 4; number += 1) await write(all.map((workflow) => intent(workflow, number)));
    // Waits for more failures than the number of refusals that would park an intent.
    await eventually(async () => calls >= silent.size * 12, 60_000);
    await eventually(async () => ['w5', 'w6', 'w7'].every((workflow) => taken.get(workflow)?.length === 4));
    t.deepEqual(
      (await rows()).filter(({ parked_at, refusals }) => parked_at !== null || refusals > 0),
      [],
    );
    t.is((await rows()).length, silent.size * 4);
    silent.clear();
    await eventually(async () => (await rows()).length === 0, 60_000);
    await Promise.all(running.map((relay) => relay.stop()));
    for (const workflow of all) t.deepEqual(taken.get(workflow), [0, 1, 2, 3], workflow);
  },
);

test.serial('an intent whose attempt does not end holds up no new one', async (t) => {
  const taken: string[] = [];
  let hanging = 0;
  let letGo = () => {};
  const hang = new Promise<void>((resolve) => (letGo = resolve));
  const [relay] = await relays(1, async ({ workflowId }) => {
    if (workflowId === 'other') return void taken.push(workflowId);
    if ((hanging += 1) > 1) await hang;
    throw failure(UNAVAILABLE);
  });
  await write([intent('silent', 0)]);
  await eventually(async () => hanging === 2);
  await write([intent('other', 0)]);
  await eventually(async () => taken.length === 1);
  t.is(hanging, 2, 'its attempt is still under way');
  letGo();
  await relay!.stop();
});

test.serial('a parked intent is tried again by itself, less and less often, and its line goes on', async (t) => {
  const fates = new Map<string, Fate>([['w#0', { fails: 'for good', times: Infinity }]]);
  const temporal = gateway(fates);
  const [relay] = await relays(1, temporal.carry);
  await write([intent('w', 0), intent('w', 1)]);
  const pauseOf = async () => {
    const [row] = (
      await database.db.raw(
        `select extract(epoch from available_at - now()) as seconds from outbox where parked_at is not null`,
      )
    ).rows;
    return row && Number(row.seconds);
  };
  await eventually(async () => (temporal.tries.get('w#0') ?? 0) >= 2 && (await pauseOf()) !== undefined);
  const [parked] = await listParked(database.db);
  t.true(parked!.nextAttemptAt > parked!.parkedAt);
  await database
    .db('outbox')
    .whereNotNull('parked_at')
    .update({ available_at: database.db.raw('now()'), refusals: 100 });
  await eventually(async () => ((await pauseOf()) ?? 0) > 100);
  fates.clear();
  await database
    .db('outbox')
    .whereNotNull('parked_at')
    .update({ available_at: database.db.raw('now()') });
  await eventually(async () => (await rows()).length === 0);
  t.deepEqual(temporal.taken.get('w'), [0, 1]);
  await relay!.stop();
});

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
    t.true(temporal.tries.get('w#1')! >= 10);
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
  t.is(parked!.attempts, 1, 'what is refused for good is parked at once');
  t.is(await dropParked(database.db, [parked!.id]), 1);
  await eventually(async () => (await rows()).length === 0);
  t.deepEqual(temporal.taken.get('w'), [1]);
  await relay!.stop();
});

test.serial('an intent that is meant for later holds up nothing, and is carried in its time', async (t) => {
  const temporal = gateway(new Map());
  await database.db.transaction((trx) => writeIntents(trx, [intent('w', 0)]));
  await database.db('outbox').update({ available_at: database.db.raw(`now() + interval '1 second'`) });
  await write([intent('w', 1)]);
  const [relay] = await relays(1, temporal.carry);
  await eventually(async () => (await rows()).length === 1);
  t.deepEqual(temporal.taken.get('w'), [1]);
  await eventually(async () => (await rows()).length === 0);
  t.deepEqual(temporal.taken.get('w'), [1, 0]);
  await relay!.stop();
});

test.serial('the intents of one organization do not wait for those of another', async (t) => {
  const writeFor = (organizationId: string, workflows: readonly string[]) =>
    database.db.transaction((trx) =>
      writeIntents(
        trx,
        workflows.map((workflow) => intent(workflow, 0)),
        { organizationId },
      ),
    );
  await writeFor(
    'flood',
    Array.from({ length: 250 }, (_, n) => `flood ${n}`),
  );
  await writeFor('other', ['other 0', 'other 1']);
  const temporal = gateway(new Map());
  const batch = () =>
    relayBatch({ db: database.db, databaseUrl: database.url, carry: temporal.carry, log: silentLogger });
  const { taken, full } = await batch();
  t.true(taken <= 52 && full, 'half of 100 for each, as far as it has intents');
  t.true(temporal.taken.has('other 0') && temporal.taken.has('other 1'));
  while ((await batch()).full);
  t.is(temporal.taken.size, 252);
  t.is((await rows()).length, 0);
});

test.serial(
  'a slow Temporal gives one organization few dispatches at once, and no batch makes others wait',
  async (t) => {
    const names = Array.from({ length: 250 }, (_, n) => `flood ${n}`);
    await database.db.transaction((trx) =>
      writeIntents(
        trx,
        names.map((name) => intent(name, 0)),
        { organizationId: 'flood' },
      ),
    );
    await database.db.transaction((trx) =>
      writeIntents(trx, [intent('other 0', 0), intent('other 1', 0)], { organizationId: 'other' }),
    );
    const begun: string[] = [];
    let underWay = 0;
    let most = 0;
    const carry = async ({ workflowId }: Intent) => {
      begun.push(workflowId);
      most = Math.max(most, (underWay += 1));
      await new Promise((resolve) => setTimeout(resolve, 60));
      underWay -= 1;
    };
    const { taken, full } = await relayBatch({ db: database.db, databaseUrl: database.url, carry, log: silentLogger });
    t.deepEqual(begun.slice(0, 4), ['flood 0', 'other 0', 'flood 1', 'other 1'], 'organizations take turns');
    t.is(most, 8 + 2, 'eight of one organization at most');
    t.true(taken <= 2 * 8 + 2 && full, `${taken} were taken`);
    t.is((await rows()).length, 252 - taken, 'the others wait for the next batch');
  },
);
