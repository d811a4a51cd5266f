/** Tests a worker process that is suspended for some seconds. Its work in progress is not repeated. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { forkSource } from '../../local/typescript.ts';
import { newId } from '../../lib/ids.ts';
import { eventually } from '../harness/eventually.ts';
import { startReceiver, type Receiver } from '../harness/receiver.ts';
import { createEndpoint, emitEvents } from '../harness/webhooks.ts';
import { createWorld, type World } from '../harness/world.ts';

const PROCESS = fileURLToPath(new URL('../harness/engine-process.ts', import.meta.url));
const ENV = {
  WORKER_ROLES: 'temporal,relay,fanout',
  TEMPORAL_TASK_QUEUE: `frozen-${newId()}`,
  WEBHOOK_TIMEOUT_MS: '60000',
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

async function startWorkerProcess(): Promise<ChildProcess> {
  const worker = forkSource(PROCESS, [], {
    env: { ...process.env, PRIMARY_DB: world.databaseUrl, WORLD_ENV: JSON.stringify(ENV) },
  });
  workers.add(worker);
  const [first] = await Promise.race([once(worker, 'message'), once(worker, 'exit').then(() => [undefined])]);
  if (!first) throw new Error('the worker ended before it worked');
  return worker;
}

const delivered = (organizationId: string) =>
  eventually(async () => {
    const rows = await world.deps.db('webhook_deliveries').where({ organization_id: organizationId });
    return rows.length === EVENTS && rows.every(({ status }) => status === 'delivered') && rows;
  }, PATIENCE_MS);

/** `others`: another worker serves the queues in the meantime, and the suspension exceeds the heartbeat timeout. */
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
      // Long enough for the maximum age of the last heartbeat before the stall.
      await new Promise((resolve) => setTimeout(resolve, 9_000));
      worker.kill('SIGSTOP');
      await new Promise((resolve) => setTimeout(resolve, frozenMs));
      worker.kill('SIGCONT');
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      open();
      const rows = await delivered(organizationId);
      t.is(receiver.requests.length, EVENTS);
      t.true(rows.every(({ attempt_count: attempts }) => attempts === 1));
      for (const each of workers) each.kill('SIGKILL');
      workers.clear();
    },
  );
