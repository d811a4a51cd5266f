/** Tests a worker process that is suspended for some seconds. Its work in progress is not repeated. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { forkSource } from '../../local/typescript.ts';
import { newId } from '../../lib/ids.ts';
import { createTemporalClient } from '../../temporal/client.ts';
import { eventually } from '../harness/eventually.ts';
import { startReceiver, type Receiver } from '../harness/receiver.ts';
import { createEndpoint, emitEvents } from '../harness/webhooks.ts';
import { createWorld, type World } from '../harness/world.ts';

const FREEZE = new URL('../harness/freeze-activation.mjs', import.meta.url).href;
const PROCESS = fileURLToPath(new URL('../harness/engine-process.ts', import.meta.url));
const ENV = {
  WORKER_ROLES: 'temporal,relay,fanout',
  TEMPORAL_TASK_QUEUE: `frozen-${newId()}`,
  WEBHOOK_TIMEOUT_MS: '60000',
  WEBHOOK_RETRY_BASE_MS: '500',
  WEBHOOK_ENDPOINT_CONCURRENCY: '30',
};
const EVENTS = 20;
const PATIENCE_MS = 110_000;

let world: World;
let receiver: Receiver;
const workers = new Set<ChildProcess>();
test.before(async () => {
  [world, receiver] = await Promise.all([createWorld({ env: ENV }), startReceiver()]);
});
test.after.always(async () => {
  for (const worker of workers) worker.kill('SIGKILL');
  await receiver?.stop();
  await world?.close();
});

async function startWorkerProcess(env: NodeJS.ProcessEnv = {}): Promise<ChildProcess> {
  const worker = forkSource(PROCESS, [], {
    env: { ...process.env, ...env, PRIMARY_DB: world.databaseUrl, WORLD_ENV: JSON.stringify(ENV) },
  });
  workers.add(worker);
  const [first] = await Promise.race([once(worker, 'message'), once(worker, 'exit').then(() => [undefined])]);
  if (!first) throw new Error('the worker ended before it worked');
  return worker;
}

const delivered = (organizationId: string, events: number) =>
  eventually(async () => {
    const rows = await world.deps.db('webhook_deliveries').where({ organization_id: organizationId });
    return rows.length === events && rows.every(({ status }) => status === 'delivered') && rows;
  }, PATIENCE_MS);

/**
 * If `others` is true, another worker serves the queues in the meantime, and the suspension exceeds the heartbeat
 * timeout.
 */
for (const { frozenMs, others } of [
  { frozenMs: 3_500, others: false },
  { frozenMs: 14_000, others: true },
])
  test.serial(
    `slow receivers and a worker that stands still for ${frozenMs} ms${others ? ', beside another' : ''}: one request for each event`,
    async (t) => {
      t.timeout(240_000);
      const { organizationId } = await world.tenant();
      await createEndpoint(world.deps, organizationId, receiver.url);
      receiver.clear();
      let open = () => {};
      const gate = new Promise<void>((resolve) => (open = resolve));
      receiver.respond(async () => {
        await gate;
        return { status: 204 };
      });
      const worker = await startWorkerProcess();
      await emitEvents(world.deps, organizationId, EVENTS);
      await receiver.received(EVENTS, PATIENCE_MS);
      if (others) await startWorkerProcess();
      // Longer (ms) than the maximum age of the last heartbeat, so that one is due during the suspension.
      await new Promise((resolve) => setTimeout(resolve, 9_000));
      worker.kill('SIGSTOP');
      await new Promise((resolve) => setTimeout(resolve, frozenMs));
      worker.kill('SIGCONT');
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      open();
      const rows = await delivered(organizationId, EVENTS);
      t.is(receiver.requests.length, EVENTS);
      t.true(rows.every(({ attempt_count: attempts }) => attempts === 1));
      for (const each of workers) each.kill('SIGKILL');
      workers.clear();
    },
  );

test.serial('a worker that stands still in the middle of an activation goes on', async (t) => {
  t.timeout(240_000);
  const { organizationId } = await world.tenant();
  await createEndpoint(world.deps, organizationId, receiver.url);
  const folder = await mkdtemp(join(tmpdir(), 'heron-frozen-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const freezeFile = join(folder, 'freeze');
  const worker = await startWorkerProcess({ NODE_OPTIONS: `--import ${FREEZE}`, FREEZE_FILE: freezeFile });
  receiver.clear();
  receiver.respond(500);
  await emitEvents(world.deps, organizationId, 1);
  await receiver.received(1, PATIENCE_MS);
  // The workflow retries inside a cancellation scope, which enables Node's async hooks.
  receiver.respond(async () => {
    await writeFile(freezeFile, '');
    return { status: 204 };
  });
  await receiver.received(2, PATIENCE_MS);
  await eventually(
    () =>
      access(freezeFile).then(
        () => false,
        () => true,
      ),
    PATIENCE_MS,
  );
  // Waits longer than the SDK's own limit for an activation (5 s).
  await new Promise((resolve) => setTimeout(resolve, 7_000));
  const ended = once(worker, 'exit');
  worker.kill('SIGCONT');
  await emitEvents(world.deps, organizationId, 1);
  t.truthy(await Promise.race([delivered(organizationId, 2), ended.then(() => false)]), 'the worker ended');
  t.is(worker.exitCode, null);
  const [{ id }] = await world.deps
    .db('webhook_deliveries')
    .where({ organization_id: organizationId })
    .orderBy('created_at');
  const temporal = createTemporalClient(world.deps.config);
  const { events } = await temporal.workflow.getHandle(`webhook-delivery/${id}`).fetchHistory();
  await temporal.connection.close();
  // On a Node version that survives an interrupted activation, the interruption shows as a failed workflow task.
  t.deepEqual(
    events!.filter(({ workflowTaskFailedEventAttributes: failed }) => failed).map(({ eventId }) => String(eventId)),
    [],
  );
});
