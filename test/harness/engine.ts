import type { Client } from '@temporalio/client';
import { signalLauncher } from '../../domain/sending/control/signals.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { createTemporalClient, createWorkflowGateway } from '../../temporal/client.ts';
import { startWorker, type RunningWorker, type WorkerParts } from '../../workers/worker.ts';
import { noWorkflows, type World } from './world.ts';

/** Worker on the task queue of one test's world: workflows, activities and the outbox relay, in this process. */
export interface Engine {
  temporal: Client;
  worker: RunningWorker;
  /** Starts or signals a campaign's launcher. */
  launch(organizationId: string, campaignId: string): Promise<void>;
  /** Finishes open work and stops; safe to call several times. */
  stop(): Promise<void>;
}

/** Starts the engine of a world. Stop it before the world is closed. */
export async function startEngine(world: World, parts: Pick<WorkerParts, 'aroundActivity'> = {}): Promise<Engine> {
  const temporal = createTemporalClient(world.deps.config);
  const { config, log, db } = world.deps;
  if (world.deps.workflows === noWorkflows) world.deps.workflows = createWorkflowGateway(temporal, config, log, db);
  const worker = await startWorker({ deps: world.deps, temporal, metrics: createMetrics(), ...parts });
  let stopping: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    await worker.stop();
    await temporal.connection.close();
  };
  return {
    temporal,
    worker,
    launch: (organizationId, campaignId) =>
      transact(world.system(organizationId), async (tx) => signalLauncher(tx, campaignId, 'started')),
    stop: () => (stopping ??= end()),
  };
}
