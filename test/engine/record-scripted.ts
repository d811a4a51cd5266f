/**
 * Records paths that depend on exact timing: a signal during an activity, a redelivery while an attempt succeeds, work
 * that keeps failing. The workflows and the Temporal server are real; the activities answer by script, so that the
 * timing is always exact. Writes workflows/<family>/histories like record-histories: npm run record-scripted --
 * [family/recording…]. Workflows that continue as new are recorded only if no others are named.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo } from '@temporalio/activity';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { NativeConnection, Worker } from '@temporalio/worker';
import { silentLogger } from '../../lib/log.ts';
import { startOptions } from '../../temporal/client.ts';
import { workflowBundle } from '../../workers/bundle.ts';
import { installRuntime } from '../../workers/runtime.ts';
import { RESOURCES, resourceQueue } from '../../workflows/queues.ts';
import { eventually } from '../harness/eventually.ts';
import { startOwnTemporal } from '../harness/temporal.ts';
import { saveHistory } from './save-history.ts';
import type { Answer, Scripted } from './script.ts';
import { AWAY, SCRIPTED } from './scripted.ts';

const only = process.argv.slice(2);
const chosen = SCRIPTED.filter(({ family, name }) => only.length === 0 || only.includes(`${family}/${name}`));
/** Number of events after which the server suggests to continue as new, for separate recordings of that. */
const FEW_EVENTS = 20;
const continues = chosen.every((one) => one.continues);
const address = continues ? undefined : process.env.HERON_TEST_TEMPORAL;
const server =
  address === undefined
    ? await startOwnTemporal(continues ? { settings: [`limit.historyCount.suggestContinueAsNew=${FEW_EVENTS}`] } : {})
    : undefined;
const to = { address: address ?? server!.address };
const taskQueue = `scripted-${randomBytes(6).toString('hex')}`;
const scripts = new Map<string, Answer[]>();
await installRuntime(silentLogger);
const client = new Client({ connection: Connection.lazy(to) });
const connection = await NativeConnection.connect(to);

/** Returns the next answer of the workflow's script. Fails if the script expects another activity. */
async function answer(): Promise<unknown> {
  const { workflowExecution, activityType, isLocal } = activityInfo();
  const { workflowId } = workflowExecution!;
  const script = scripts.get(workflowId)!;
  if (script[0]?.patient && isLocal) throw ApplicationFailure.create(AWAY);
  const next = script.shift();
  if (next?.activity !== activityType)
    throw ApplicationFailure.nonRetryable(`${activityType} is not next in the script`, 'script');
  if (next.meanwhile) {
    await client.workflow.getHandle(workflowId).signal(next.meanwhile.signal, ...next.meanwhile.says);
    await sleep(next.takesMs ?? 500);
  }
  if (next.fails) throw ApplicationFailure.create({ ...next.fails });
  return next.gives;
}

async function record(one: Scripted): Promise<void> {
  const { family, name, workflowId, spec, answers, begins, later, ends = 'COMPLETED' } = one;
  scripts.set(workflowId, [...answers]);
  const options = {
    ...startOptions(spec, workflowId, taskQueue),
    // A signal during a local activity reaches the workflow when its task is extended, at four fifths of this timeout.
    ...(answers.some(({ takesMs }) => takesMs) ? { workflowTaskTimeout: '3s' as const } : {}),
  };
  const started = begins
    ? await client.workflow.signalWithStart(spec.workflowType, {
        ...options,
        signal: begins.signal,
        signalArgs: begins.says,
      })
    : await client.workflow.start(spec.workflowType, options);
  const handle: WorkflowHandle = started;
  for (const one of later) {
    await eventually(async () => (await count(handle, one.events)) >= one.times);
    if ('cancels' in one) await handle.cancel();
    else await handle.signal(one.signal, ...one.says);
  }
  const last = client.workflow.getHandle(workflowId);
  await eventually(async () => (await last.describe()).status.name === ends, 60_000);
  const left = scripts.get(workflowId)!;
  if (left.length > 0) throw new Error(`${family}/${name} ended before ${left.length} answers of its script`);
  const first = 'firstExecutionRunId' in started ? started.firstExecutionRunId : started.signaledRunId;
  await saveHistory(client, family, name, workflowId, first);
}

async function count(handle: WorkflowHandle, type: string): Promise<number> {
  return historyToJSON(await handle.fetchHistory()).split(`"${type}"`).length - 1;
}

const activities = Object.fromEntries(
  [...new Set(SCRIPTED.flatMap(({ answers }) => answers.map(({ activity }) => activity)))].map((name) => [
    name,
    answer,
  ]),
);
const workers = await Promise.all([
  Worker.create({ connection, taskQueue, activities, workflowBundle: await workflowBundle(silentLogger) }),
  ...RESOURCES.map((resource) =>
    Worker.create({ connection, taskQueue: resourceQueue(taskQueue, resource), activities }),
  ),
]);
const running = Promise.all(workers.map((worker) => worker.run()));
try {
  await Promise.all(
    // Skips workflows that continue as new unless only such workflows are named, because only then the server suggests
    // it after few events.
    chosen.filter((one) => continues || !one.continues).map(record),
  );
} finally {
  for (const worker of workers) worker.shutdown();
  await running;
  await connection.close();
  await client.connection.close();
  await server?.stop();
}
