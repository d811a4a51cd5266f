/**
 * Records workflows of each release in histories/: `node bundle/run.mjs examples/changing-workflows/record.ts`.
 * Temporal's test server skips the waiting times.
 */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { findProgram } from '../../test/harness/programs.ts';
import type { TrialActivities } from './contract.ts';

const FOLDER = new URL('histories/', import.meta.url);
const activities: TrialActivities = { remind: async () => {}, endTrial: async () => {} };

const path = await findProgram('temporal-test-server');
if (!path) throw new Error("Temporal's time-skipping test server is not to be had on this machine");
const env = await TestWorkflowEnvironment.createTimeSkipping({
  server: { executable: { type: 'existing-path', path } },
});
try {
  for (const release of ['first', 'patched', 'deprecated']) {
    const taskQueue = `trials-${release}`;
    const worker = await Worker.create({
      connection: env.nativeConnection,
      taskQueue,
      activities,
      workflowsPath: fileURLToPath(new URL(`${release}.ts`, import.meta.url)),
    });
    await worker.runUntil(async () => {
      const handle = await env.client.workflow.start('trial', { taskQueue, workflowId: release, args: ['trial'] });
      // The workflow has started and waits, like a workflow that is open when the next release is deployed.
      await env.sleep('1 day');
      await save(`${release}-waiting`, await handle.fetchHistory());
      await handle.result();
      await save(release, await handle.fetchHistory());
    });
  }
} finally {
  await env.teardown();
}

async function save(name: string, history: Parameters<typeof historyToJSON>[0]): Promise<void> {
  const text = JSON.stringify(JSON.parse(historyToJSON(history)), null, 1).replaceAll(/"\d+@[^"]+"/g, '"recorder"');
  await writeFile(new URL(`${name}.json`, FOLDER), `${text}\n`);
}
