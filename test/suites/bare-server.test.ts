import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { Client, Connection } from '@temporalio/client';
import { startChild } from '../../local/child.ts';
import { dialServers } from '../../domain/mailboxes/check.ts';
import { AppError } from '../../lib/errors.ts';
import { createTemporalClient, createWorkflowGateway } from '../../temporal/client.ts';
import { createTestDatabase } from '../harness/database.ts';
import { eventually } from '../harness/eventually.ts';
import { startOwnTemporal } from '../harness/temporal.ts';
import { call, createWorld } from '../harness/world.ts';

for (const roles of ['temporal,relay,fanout,sync', 'relay'])
  test(`on a Temporal server without search attributes, a worker with ${roles} starts`, async (t) => {
    t.timeout(120_000);
    const [database, server, folder] = await Promise.all([
      createTestDatabase(),
      startOwnTemporal({ bare: true }),
      mkdtemp(join(tmpdir(), 'heron-bare-')),
    ]);
    t.teardown(async () => {
      await server.stop();
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    });
    const connection = await Connection.connect({ address: server.address });
    t.teardown(() => connection.close());
    const before = await connection.operatorService.listSearchAttributes({ namespace: 'default' });
    t.false('OrganizationId' in before.customAttributes, 'the server is not bare: this test would show nothing');

    const worker = await startChild('worker', {
      env: {
        ...process.env,
        PRIMARY_DB: database.url,
        TEMPORAL_ADDRESS: server.address,
        TEMPORAL_TASK_QUEUE: 'bare',
        WORKER_ROLES: roles,
        WORKER_PORT: '0',
      },
      logFile: join(folder, 'worker.log'),
      graceMs: 5_000,
    });
    t.teardown(() => worker.stop());
    const client = new Client({ connection });
    const schedule = await eventually(() =>
      client.schedule
        .getHandle('maintenance/bare')
        .describe()
        .catch(() => false as const),
    );
    t.is(schedule.action.type, 'startWorkflow');
    await t.notThrowsAsync(async () => client.workflow.count("OrganizationId = 'x' AND State = 'y'"));
  });

test('a worker that is killed is missing in readiness, and what a person waits for is refused at once', async (t) => {
  t.timeout(120_000);
  const [server, folder] = await Promise.all([startOwnTemporal(), mkdtemp(join(tmpdir(), 'heron-killed-'))]);
  const world = await createWorld({ env: { TEMPORAL_ADDRESS: server.address } });
  const temporal = createTemporalClient(world.deps.config);
  world.deps.workflows = createWorkflowGateway(temporal, world.deps.config, world.deps.log, world.deps.db);
  t.teardown(async () => {
    await temporal.connection.close();
    await world.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const { apiKey, organizationId } = await world.tenant();
  const workers = async () => {
    const { body } = await call(world, 'GET', '/v1/system/readiness', { token: apiKey });
    return body.checks.find(({ name }: { name: string }) => name === 'workers') as { ok: boolean; detail: string };
  };
  t.false((await workers()).ok, 'no worker was started yet');
  const worker = await startChild('worker', {
    env: {
      ...process.env,
      PRIMARY_DB: world.databaseUrl,
      TEMPORAL_ADDRESS: server.address,
      TEMPORAL_TASK_QUEUE: world.deps.config.TEMPORAL_TASK_QUEUE,
      WORKER_PORT: '0',
    },
    logFile: join(folder, 'worker.log'),
    graceMs: 5_000,
  });
  t.like(await workers(), { ok: true, detail: '1 worker alive' });

  // The worker dies, but Temporal still lists it as a poller when the request arrives.
  process.kill(worker.pid, 'SIGKILL');
  await worker.exited;
  const killedAt = Date.now();
  const check = dialServers(world.system(organizationId), {
    smtp: { host: '127.0.0.1', port: 1, security: 'none', username: 'u', password: 'p' },
    imap: null,
  });
  const refusal = await t.throwsAsync(check, { instanceOf: AppError });
  t.is((refusal as AppError).code, 'service_unavailable');
  const { pollers } = await temporal.workflowService.describeTaskQueue({
    namespace: 'default',
    taskQueue: { name: world.deps.config.TEMPORAL_TASK_QUEUE },
    taskQueueType: 1,
  });
  t.true((pollers ?? []).length > 0, 'Temporal would still say that a worker polls');
  t.like(await workers(), { ok: false, detail: 'No worker is alive' });
  t.log(`refused after ${Date.now() - killedAt} ms`);
});
