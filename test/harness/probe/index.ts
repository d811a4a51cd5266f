import { fileURLToPath } from 'node:url';
import type { ActivityOptions, Priority } from '@temporalio/common';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { NativeConnection, Worker, bundleWorkflowCode } from '@temporalio/worker';
import { newId } from '../../../lib/ids.ts';
import { silentLogger } from '../../../lib/log.ts';
import { installRuntime } from '../../../workers/runtime.ts';

/** Runs single activities on any task queue. */
export interface Probes {
  /** Starts a workflow that schedules an activity, once or several times in parallel. */
  start(
    activity: string,
    args: unknown[],
    options: ActivityOptions & { taskQueue: string },
    run?: { priority?: Priority; times?: number },
  ): Promise<WorkflowHandle>;
  stop(): Promise<void>;
}

const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** Starts a worker for the workflows. The worker that serves the activity's task queue executes the activity. */
export async function startProbes(client: Client, address: string): Promise<Probes> {
  await installRuntime(silentLogger);
  const connection = await NativeConnection.connect({ address });
  const taskQueue = `probe-${newId()}`;
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle: await bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL('workflow.ts', import.meta.url)),
      logger: quiet,
    }),
  });
  const running = worker.run();
  return {
    start: (activity, args, options, { priority, times } = {}) =>
      client.workflow.start('probe', {
        taskQueue,
        workflowId: `probe/${newId()}`,
        args: [{ activity, args, options, ...(times === undefined ? {} : { times }) }],
        ...(priority ? { priority } : {}),
      }),
    async stop() {
      worker.shutdown();
      await running;
      await connection.close();
    },
  };
}
