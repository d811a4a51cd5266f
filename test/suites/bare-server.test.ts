import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { Client, Connection } from '@temporalio/client';
import { startChild } from '../../local/child.ts';
import { createTestDatabase } from '../harness/database.ts';
import { eventually } from '../harness/engine.ts';
import { startOwnTemporal } from '../harness/temporal.ts';

for (const roles of ['temporal,relay,fanout,sync', 'relay'])
  test(`on a Temporal server that nobody has prepared, a worker with ${roles} starts`, async (t) => {
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
