/** Temporal worker with Heron's settings whose activities do nothing, to measure the workflow shape alone. */
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import { loadConfig } from '../../lib/config/index.ts';
import { silentLogger } from '../../lib/log.ts';
import { connectionOptions } from '../../temporal/client.ts';
import { installRuntime } from '../../workers/runtime.ts';
import { BARE_QUEUE } from '../workflows/contract.ts';

const config = loadConfig();
await installRuntime(silentLogger);
const quiet = (): void => {};
const { code } = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('../workflows/bare.ts', import.meta.url)),
  logger: { log: quiet, trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet },
});
const connection = await NativeConnection.connect(connectionOptions(config));
const worker = await Worker.create({
  connection,
  namespace: config.TEMPORAL_NAMESPACE,
  taskQueue: BARE_QUEUE,
  workflowBundle: { code },
  activities: { decide: async () => ({}), deliver: async () => ({}) },
  maxConcurrentActivityTaskExecutions: config.WORKER_ACTIVITIES,
  maxCachedWorkflows: config.WORKER_CACHED_WORKFLOWS,
  workflowTaskPollerBehavior: { type: 'autoscaling' },
  activityTaskPollerBehavior: { type: 'autoscaling' },
});
const running = worker.run();
process.once('SIGTERM', () => worker.shutdown());
process.send!({ port: 0 });
await running;
await connection.close();
process.exit(0);
