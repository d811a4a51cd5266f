import { randomBytes } from 'node:crypto';
import test from 'ava';
import { Client, Connection } from '@temporalio/client';
import { connectRaw } from '../db/connection.ts';
import type { RawDb } from '../test/harness/database.ts';
import { silentLogger } from '../lib/log.ts';
import { createTestDatabase, type TestDatabase } from '../test/harness/database.ts';
import { eventually } from '../test/harness/eventually.ts';
import { testConfig } from '../test/harness/world.ts';
import { defineInstallationWorkflow } from '../workflows/contract.ts';
import { ensureSearchAttributes } from './attributes.ts';
import { createTemporalClient } from './client.ts';
import { cancel, signal, signalOpen, start, writeIntents, type Intent } from './dispatch.ts';
import { createIntentSender, startRelay, type Relay } from './relay.ts';

let database: TestDatabase;
let temporal: Client;
let taskQueue: string;
test.before(async () => {
  database = await createTestDatabase();
  const config = testConfig(database.url);
  temporal = createTemporalClient(config);
  taskQueue = config.TEMPORAL_TASK_QUEUE;
  await ensureSearchAttributes(temporal, config.TEMPORAL_NAMESPACE);
});
test.beforeEach(() => database.db('outbox').delete());
test.after.always(async () => {
  await temporal?.connection.close();
  await database?.drop();
});

// No worker polls the queue, so the workflows stay open, and their histories show only the relay's actions.
const family = defineInstallationWorkflow<Record<'x' | 'y' | 'z' | 'look again', { id: string }>>()({
  type: 'nobody',
  kind: 'relay-test',
  parts: ['name'],
  summary: () => 'a run of the relay test',
  cancel: 'Nothing follows.',
});
const fresh = () => ({ name: randomBytes(6).toString('hex') });
const write = (...intents: Intent[]) => database.db.transaction((trx) => writeIntents(trx, intents));
const left = () => database.db('outbox').orderBy('id');
const emptied = () => eventually(async () => (await left()).length === 0);
const relayWith = (client: Client, db: RawDb = database.db, dispatchMs = 5_000): Promise<Relay> =>
  startRelay({
    db,
    databaseUrl: database.url,
    carry: createIntentSender(client, taskQueue, dispatchMs),
    log: silentLogger,
  });

const STARTED = 1;
const SIGNALED = 26;
const CANCEL_REQUESTED = 20;

async function readHistory(name: string): Promise<number[]> {
  const history = await temporal.workflow.getHandle(family.id({ name })).fetchHistory();
  return history
    .events!.map(({ eventType }) => eventType as number)
    .filter((type) => [STARTED, SIGNALED, CANCEL_REQUESTED].includes(type));
}

/** Returns a client whose calls all pass through `around`. */
function wrapped(around: (call: () => Promise<unknown>) => Promise<unknown>): Client {
  return {
    workflow: {
      start: (...args: Parameters<Client['workflow']['start']>) => around(() => temporal.workflow.start(...args)),
      signalWithStart: (...args: Parameters<Client['workflow']['signalWithStart']>) =>
        around(() => temporal.workflow.signalWithStart(...args)),
      getHandle: (id: string) => temporal.workflow.getHandle(id),
    },
    withDeadline: (deadline: number, work: () => Promise<unknown>) => temporal.withDeadline(deadline, work),
  } as unknown as Client;
}

test.serial('starts, signals and cancels arrive, those of one workflow in their order', async (t) => {
  const [a, b, c] = [fresh(), fresh(), fresh()];
  await write(
    start(family, a),
    signal(family, b, 'x', { id: '1' }),
    cancel(family, b, 'no'),
    signal(family, b, 'y', { id: '1' }),
    signal(family, b, 'z', { id: '1' }),
    cancel(family, c, 'never opened'),
  );
  const relay = await relayWith(temporal);
  await emptied();
  await relay.stop();
  t.deepEqual(await readHistory(a.name), [STARTED]);
  t.deepEqual(await readHistory(b.name), [STARTED, SIGNALED, CANCEL_REQUESTED, SIGNALED, SIGNALED]);
  await t.throwsAsync(readHistory(c.name), undefined, 'a cancel opens nothing');
});

test.serial('a signal without a start reaches an open run, and opens none', async (t) => {
  const [open, closed] = [fresh(), fresh()];
  await write(
    start(family, open, { memo: { plan: 'Small' } }),
    signalOpen(family, open, 'x', { id: '7' }),
    signalOpen(family, closed, 'x', { id: '8' }),
  );
  const relay = await relayWith(temporal);
  await emptied();
  await relay.stop();
  t.deepEqual(await readHistory(open.name), [STARTED, SIGNALED]);
  await t.throwsAsync(readHistory(closed.name), undefined, 'nothing was opened');
  const run = await temporal.workflow.getHandle(family.id(open)).describe();
  t.deepEqual(run.memo, { plan: 'Small' });
  t.like(run.priority, { priorityKey: 3, fairnessKey: 'installation' });
});

test.serial('a run that may not be opened again stays closed, whatever comes late', async (t) => {
  const once = defineInstallationWorkflow<{ paid: { paymentId: string } }>()({
    type: 'nobody',
    kind: 'relay-test-once',
    parts: ['name'],
    reuse: 'never',
    summary: () => 'a run of the relay test',
    cancel: 'Nothing follows.',
  });
  const order = fresh();
  await write(start(once, order));
  const relay = await relayWith(temporal);
  await emptied();
  const handle = temporal.workflow.getHandle(once.id(order));
  const { runId } = await handle.describe();
  await handle.terminate();
  await write(
    start(once, order),
    signal(once, order, 'paid', { paymentId: 'p' }),
    signalOpen(once, order, 'paid', { paymentId: 'p' }),
  );
  await emptied();
  await relay.stop();
  const after = await handle.describe();
  t.deepEqual([after.runId, after.status.name], [runId, 'TERMINATED']);
});

test.serial('what is written later wakes the relay, and the same word twice in a row is said once', async (t) => {
  const relay = await relayWith(temporal);
  const a = fresh();
  await write(...Array.from({ length: 20 }, () => signal(family, a, 'look again', { id: '1' })));
  await emptied();
  await relay.stop();
  t.deepEqual(await readHistory(a.name), [STARTED, SIGNALED]);
});

test.serial('an intent Temporal will never take waits by itself', async (t) => {
  const [poison, a, b] = [fresh(), fresh(), fresh()];
  const bad = start(family, poison);
  if (bad.kind !== 'start') throw new Error('no start');
  await write({ ...bad, payload: { ...bad.payload, workflowType: '' } }, start(family, a), start(family, b));
  const relay = await relayWith(temporal);
  await eventually(async () => (await left()).length === 1);
  await relay.stop();
  const [row] = await left();
  t.is(row.workflow_id, family.id(poison));
  t.true(row.attempts >= 1);
  t.truthy(row.last_error);
  t.deepEqual([await readHistory(a.name), await readHistory(b.name)], [[STARTED], [STARTED]]);
});

test.serial(
  'while Temporal is away intents stay, few attempts are made, and a relay that finds it carries them',
  async (t) => {
    const nobody = new Client({
      connection: Connection.lazy({ address: '127.0.0.1:1', connectTimeout: 200 }),
      namespace: 'default',
    });
    const names = Array.from({ length: 60 }, fresh);
    await write(...names.map((name) => start(family, name)));
    const away = await relayWith(nobody, database.db, 300);
    await eventually(async () => (await left()).some(({ attempts }) => attempts > 0));
    for (let n = 0; n < 20; n += 1) {
      await database.db.raw(`notify heron_outbox`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const rows = await left();
    t.is(rows.length, 60);
    const attempts = rows.reduce((sum, row) => sum + row.attempts, 0);
    t.true(attempts <= 3 * 60, `${attempts} attempts`);
    await away.stop();
    await nobody.connection.close();
    const relay = await relayWith(temporal);
    await emptied();
    await relay.stop();
    t.deepEqual(await readHistory(names[0]!.name), [STARTED]);
    t.deepEqual(await readHistory(names[59]!.name), [STARTED]);
  },
);

test.serial('a relay that dies after Temporal took an intent repeats it without harm', async (t) => {
  const dying = connectRaw({ url: database.url, max: 1, name: 'dying-relay' });
  const [a, b] = [fresh(), fresh()];
  await write(start(family, a), signal(family, b, 'x', { id: '1' }));
  let deaths = 0;
  const relay = await relayWith(
    wrapped(async (call) => {
      const result = await call();
      if (deaths < 2) {
        deaths += 1;
        await database.db.raw(
          `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'dying-relay' and datname = current_database()`,
        );
      }
      return result;
    }),
    dying,
  );
  await eventually(async () => deaths > 0);
  await emptied();
  await relay.stop();
  await dying.destroy();
  t.deepEqual(await readHistory(a.name), [STARTED]);
  const [first, ...signals] = await readHistory(b.name);
  t.is(first, STARTED);
  t.true(signals.length >= 1 && signals.every((type) => type === SIGNALED));
});

test.serial('two relays share the work, and stopping waits for the batch under way', async (t) => {
  const names = Array.from({ length: 150 }, fresh);
  let calls = 0;
  const slow = wrapped(async (call) => {
    calls += 1;
    await new Promise((resolve) => setTimeout(resolve, 20));
    return call();
  });
  const relays = await Promise.all([1, 2].map(() => relayWith(slow, database.db, 60_000)));
  await write(...names.map((name) => start(family, name)));
  await eventually(async () => calls > 0);
  await Promise.all(relays.map((relay) => relay.stop()));
  const rest = await left();
  t.is(calls, 150 - rest.length, 'what was begun was finished, and nothing was carried twice');
});
