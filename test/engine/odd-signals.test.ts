/** Tests signals sent by a person in the Temporal UI: without input, or with a wrong one. */
import { readdirSync, readFileSync } from 'node:fs';
import { activityInfo, Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { Client } from '@temporalio/client';
import test from 'ava';
import { FAMILIES } from '../../activities/index.ts';
import { newId } from '../../lib/ids.ts';
import { silentLogger } from '../../lib/log.ts';
import { ensureSearchAttributes, waitForSearchAttributes } from '../../temporal/attributes.ts';
import { connectionOptions, createTemporalClient, findFailingRuns, startOptions } from '../../temporal/client.ts';
import { dataConverter } from '../../temporal/codec.ts';
import { startSpec } from '../../temporal/dispatch.ts';
import { workflowBundle } from '../../workers/bundle.ts';
import { installRuntime } from '../../workers/runtime.ts';
import { eventually } from '../harness/eventually.ts';
import { testConfig } from '../harness/world.ts';

const config = testConfig('postgres://nowhere');
const { TEMPORAL_TASK_QUEUE: taskQueue, TEMPORAL_NAMESPACE: namespace } = config;
const WORKFLOWS = new URL('../../workflows/', import.meta.url);
const PATIENCE_MS = 110_000;

let client: Client;
let connection: NativeConnection;
let worker: Worker;
let running: Promise<void>;
test.before(async () => {
  await installRuntime(silentLogger);
  client = createTemporalClient(config);
  await ensureSearchAttributes(client, namespace);
  await waitForSearchAttributes(client);
  connection = await NativeConnection.connect(connectionOptions(config));
  worker = await Worker.create({
    connection,
    namespace,
    ...dataConverter(config),
    taskQueue,
    workflowBundle: await workflowBundle(silentLogger),
    activities: Object.fromEntries(activityNames().map((name) => [name, standStill])),
    shutdownGraceTime: '1s',
  });
  running = worker.run();
});
test.after.always(async () => {
  worker?.shutdown();
  await running;
  await connection?.close();
  await client?.connection.close();
});

/** Returns the names of all activities. Their functions are not called. */
function activityNames(): string[] {
  const parts: unknown = new Proxy(() => {}, { get: () => parts });
  return FAMILIES.flatMap((family) => family.serve(parts as never).map(([, name]) => name));
}

/** Activity that never ends, so that the workflows stay open. It refuses to run as a local activity. */
async function standStill(): Promise<void> {
  if (activityInfo().isLocal) throw ApplicationFailure.nonRetryable('asked by a normal activity instead');
  await Context.current().cancelled;
}

/** Returns the names of the signals that a workflow type defines. */
function signalsOf(type: string): string[] {
  const folders = readdirSync(WORKFLOWS, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const texts = folders.map(({ name: family }) => {
    const folder = new URL(`${family}/`, WORKFLOWS);
    const sources = readdirSync(folder).filter((name) => name.endsWith('.ts'));
    return sources.map((name) => readFileSync(new URL(name, folder), 'utf8')).join('\n');
  });
  const text = texts.find((each) => each.includes(`type: '${type}'`))!;
  return [...text.matchAll(/defineSignal<[^>]*>\('(\w+)'\)/g)].map(([, name]) => name!);
}

const ODD: unknown[][] = [[], [null], [undefined], ['text'], [7], [[]], [{}], [{ cause: null, eventId: 7 }, 'more']];

const signalled = FAMILIES.map(({ contract }) => contract).filter(({ type }) => signalsOf(type).length > 0);

test('the families with signals are found', (t) => {
  t.true(signalled.length >= 15, String(signalled.length));
});

for (const contract of signalled)
  test.serial(`a run of ${contract.kind} goes on after signals of any payload`, async (t) => {
    t.timeout(180_000);
    const args = Object.fromEntries(['organizationId', ...contract.parts].map((part) => [part, newId()]));
    const spec = startSpec(contract, args);
    const { queue: _, ...onOneQueue } = spec;
    const id = contract.id(args);
    const handle = await client.workflow.start(contract.type, startOptions(onOneQueue, id, taskQueue));
    const names = signalsOf(contract.type);
    for (const name of names) for (const payload of ODD) await handle.signal(name, ...payload);
    const last = await eventually(async () => {
      const events = (await handle.fetchHistory()).events!;
      const types = events.map(({ eventType }) => eventType as number);
      const seen = types.filter((type) => type === 26).length === names.length * ODD.length;
      return seen && types.lastIndexOf(7) > types.lastIndexOf(26) && types;
    }, PATIENCE_MS);
    t.false(last.includes(8), 'no workflow task failed');
    t.is((await handle.describe()).status.name, 'RUNNING');
    await handle.terminate();
  });

test.serial('a run whose workflow tasks fail is listed, and no other', async (t) => {
  t.timeout(180_000);
  const contract = signalled[0]!;
  const args = Object.fromEntries(['organizationId', ...contract.parts].map((part) => [part, newId()]));
  const healthy = await client.workflow.start(
    contract.type,
    startOptions(startSpec(contract, args), newId(), taskQueue),
  );
  const failing = await client.workflow.start('unknownToThisBuild', { taskQueue, workflowId: newId(), args: [] });
  await eventually(async () => (await findFailingRuns(client, taskQueue, 10)).length > 0, PATIENCE_MS);
  t.deepEqual(await findFailingRuns(client, taskQueue, 10), [failing.workflowId]);
  await Promise.all([healthy.terminate(), failing.terminate()]);
});
