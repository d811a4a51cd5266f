import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import test from 'ava';
import { startProbes } from '../../test/harness/probe/index.ts';
import { eventually } from '../../test/harness/eventually.ts';
import { campaignWorkflow } from '../../workflows/campaign/contract.ts';
import { contactImportWorkflow } from '../../workflows/contact-import/contract.ts';
import { PRIORITY, type Work } from '../../workflows/contract.ts';
import { enrollmentWorkflow } from '../../workflows/enrollment/contract.ts';
import { mailboxCheckWorkflow } from '../../workflows/mailbox-check/contract.ts';
import { resolveTemporalCli, startTemporalServer } from './index.ts';

const PATIENCE_MS = 90_000;
const FLOOD_RUNS = 5;
const FLOOD_TIMES = 1_000;

test('thousands of mail activities of one tenant delay neither launchers nor imports of others; urgent work passes all', async (t) => {
  t.timeout(PATIENCE_MS * 3);
  const dir = await mkdtemp(join(tmpdir(), 'heron-fairness-'));
  const server = await startTemporalServer({
    cli: await resolveTemporalCli(() => {}),
    headless: true,
    logFile: join(dir, 'log'),
  });
  const connection = await Connection.connect({ address: server.address });
  const client = new Client({ connection });
  const probes = await startProbes(client, server.address);
  const native = await NativeConnection.connect({ address: server.address });
  /** Tenants of the activities that ran, in order. */
  const ran: string[] = [];
  const taskQueue = 'fairness';
  const worker = await Worker.create({
    connection: native,
    taskQueue,
    maxConcurrentActivityTaskExecutions: 2,
    activities: {
      async note(who: string) {
        ran.push(who);
        await new Promise((resolve) => setTimeout(resolve, 5));
      },
    },
  });
  const options = { taskQueue, startToCloseTimeout: '10s' } as const;
  // Sets the priority of the workflow. Its activities inherit the priority, as in Heron's workflows.
  const start = (who: string, { work }: { work: Work }, times = 1) =>
    probes.start('note', [who], options, { priority: { priorityKey: PRIORITY[work], fairnessKey: who }, times });
  const queued = async () =>
    Number(
      (
        await client.workflowService.describeTaskQueue({
          namespace: 'default',
          taskQueue: { name: taskQueue },
          taskQueueType: 2,
          reportStats: true,
        })
      ).stats?.approximateBacklogCount ?? 0,
    );
  let running: Promise<void> | undefined;
  try {
    const flood = await Promise.all(
      Array.from({ length: FLOOD_RUNS }, () => start('flood', enrollmentWorkflow, FLOOD_TIMES)),
    );
    await eventually(async () => (await queued()) >= FLOOD_RUNS * FLOOD_TIMES, PATIENCE_MS);
    await start('other', campaignWorkflow, 5);
    await start('another', contactImportWorkflow, 5);
    await start('person', mailboxCheckWorkflow);
    await eventually(async () => (await queued()) >= FLOOD_RUNS * FLOOD_TIMES + 11, PATIENCE_MS);
    running = worker.run();
    await eventually(async () => ran.filter((who) => who.endsWith('other')).length === 10, PATIENCE_MS);
    t.true(ran.indexOf('person') < 10, `urgent work came at ${ran.indexOf('person')}`);
    for (const who of ['other', 'another'])
      t.true(ran.lastIndexOf(who) < 60, `the last of ${who} came at ${ran.lastIndexOf(who)}`);
    await Promise.all(flood.map((handle) => handle.terminate()));
  } finally {
    if (running) {
      worker.shutdown();
      await running;
    }
    await probes.stop();
    await native.close();
    await connection.close();
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  }
});
