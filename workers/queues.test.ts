import test from 'ava';
import { ApplicationFailure } from '@temporalio/common';
import type { WorkflowFailedError } from '@temporalio/client';
import { newId } from '../lib/ids.ts';
import { createMetrics } from '../lib/metrics.ts';
import { createTemporalClient } from '../temporal/client.ts';
import { startProbes, type Probes } from '../test/harness/probe/index.ts';
import { eventually } from '../test/harness/eventually.ts';
import { createWorld, type World } from '../test/harness/world.ts';
import { RESOURCES, type Queue } from '../workflows/queues.ts';
import { queuesOfRoles, taskQueueOf } from './queues.ts';
import { startWorker, type RunningWorker } from './worker.ts';

let world: World;
let probes: Probes;
let temporal: ReturnType<typeof createTemporalClient>;
const ALL: Queue[] = ['workflows', ...RESOURCES];

test.before(async () => {
  world = await createWorld();
  temporal = createTemporalClient(world.deps.config);
  probes = await startProbes(temporal, world.deps.config.TEMPORAL_ADDRESS);
});
test.after.always(async () => {
  await probes?.stop();
  await temporal?.connection.close();
  await world?.close();
});

/** Starts a worker with some roles, on task queues that no other test uses. */
async function workerWith(roles: string[]): Promise<{ worker: RunningWorker; queue: (queue: Queue) => string }> {
  const config = { ...world.deps.config, WORKER_ROLES: roles, TEMPORAL_TASK_QUEUE: `test-${newId()}` };
  const worker = await startWorker({ deps: { ...world.deps, config }, temporal, metrics: createMetrics() });
  return { worker, queue: (queue) => taskQueueOf(config, queue) };
}

async function polled(taskQueue: string, type: 'workflow' | 'activity'): Promise<boolean> {
  const { pollers } = await temporal.workflowService.describeTaskQueue({
    namespace: 'default',
    taskQueue: { name: taskQueue },
    taskQueueType: type === 'workflow' ? 1 : 2,
  });
  return (pollers ?? []).length > 0;
}

test('a role names a queue, and temporal names all of them', (t) => {
  t.deepEqual(queuesOfRoles(['relay', 'temporal', 'sync']), ALL);
  t.deepEqual(queuesOfRoles(['mail', 'fanout', 'workflows']), ['workflows', 'mail']);
  t.deepEqual(queuesOfRoles(['relay', 'fanout', 'sync']), []);
});

test('a worker with some roles polls their queues and no others', async (t) => {
  const { worker, queue } = await workerWith(['mail', 'batch']);
  try {
    await eventually(
      async () => (await polled(queue('mail'), 'activity')) && (await polled(queue('batch'), 'activity')),
    );
    for (const other of ['workflows', 'apps', 'webhooks', 'interactive'] as const)
      t.false(await polled(queue(other), 'activity'), other);
    for (const each of ALL) t.false(await polled(queue(each), 'workflow'), `workflows on ${each}`);
  } finally {
    await worker.stop();
  }
});

/**
 * Expected queue of each activity. Local activities are served by the `workflows` queue. The arguments name no existing
 * row, so that the activities end soon.
 */
const PLACES: [Queue, string, object][] = [
  ['mail', 'deliverSend', { sendId: newId() }],
  ['apps', 'callApp', { stepRunId: newId() }],
  ['apps', 'challengeEndpoint', { endpointId: newId() }],
  ['webhooks', 'deliverBatch', { batchId: newId(), lane: true }],
  ['webhooks', 'deliverWebhook', { deliveryId: newId() }],
  ['batch', 'runLauncher', { campaignId: newId() }],
  ['batch', 'importContacts', { importId: newId() }],
  ['batch', 'abandonImport', { importId: newId(), reason: null }],
  ['interactive', 'checkMailbox', { checkId: newId() }],
  ['workflows', 'advanceEnrollment', { enrollmentId: newId() }],
  ['mail', 'warmupTurn', { mailboxId: newId() }],
  ['batch', 'doChore', { chore: 'sweepExpired' }],
  ['workflows', 'beginLauncher', { campaignId: newId() }],
  ['workflows', 'advanceRun', { runId: newId() }],
  ['batch', 'preflightRun', { runId: newId() }],
  ['batch', 'launchRun', { runId: newId() }],
];

test.serial('every activity is served on the queue of its resource, and on no other', async (t) => {
  const { organizationId } = await world.tenant();
  const { worker, queue } = await workerWith(['temporal']);
  const outcome = async (activity: string, args: object, taskQueue: string): Promise<string> => {
    const handle = await probes.start(activity, [{ organizationId, ...args }, 1], {
      taskQueue,
      startToCloseTimeout: '20s',
      retry: { maximumAttempts: 1 },
    });
    return handle.result().then(
      () => 'done',
      (error: WorkflowFailedError) => {
        const cause = error.cause?.cause as Error | undefined;
        return `${cause instanceof ApplicationFailure ? cause.type : ''} ${cause?.message}`;
      },
    );
  };
  try {
    await Promise.all([
      ...PLACES.map(([resource, activity, args]) =>
        outcome(activity, args, queue(resource)).then((said) =>
          t.notRegex(said, /not registered|timed out/i, activity),
        ),
      ),
      ...PLACES.filter(([resource]) => resource !== 'workflows').map(([, activity, args]) =>
        activity === 'deliverBatch'
          ? undefined
          : outcome(activity, args, queue('workflows')).then((said) => t.regex(said, /not registered/, activity)),
      ),
    ]);
    t.regex(await outcome('deliverSend', { sendId: newId() }, queue('apps')), /not registered/);
  } finally {
    await worker.stop();
  }
});

test.serial('a stopping worker finishes what is under way on every queue', async (t) => {
  const { organizationId } = await world.tenant();
  const { worker, queue } = await workerWith(['temporal']);
  // An activity for an open batch waits a second and a half for more deliveries, so it is still running when the worker
  // stops.
  const started = await Promise.all(
    (['webhooks', 'workflows'] as const).map((each) =>
      probes.start('deliverBatch', [{ organizationId, batchId: newId() }], {
        taskQueue: queue(each),
        startToCloseTimeout: '20s',
        retry: { maximumAttempts: 1 },
      }),
    ),
  );
  await eventually(async () => {
    const all = await Promise.all(started.map((handle) => handle.describe()));
    // On a busy machine, one activity may complete before the test sees the other one running.
    return all.every(({ raw, status }) => raw.pendingActivities?.[0]?.state === 2 || status.name === 'COMPLETED');
  });
  await worker.stop();
  for (const handle of started) t.like(await handle.result(), { delivered: 0, failed: 0 });
});
