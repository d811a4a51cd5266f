import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { splitBatch } from '../domain/connect/delivery/split-batch.ts';
import { runBatch } from '../domain/connect/delivery/run-batch.ts';
import { undeliveredBatches } from '../domain/connect/delivery/undelivered-batches.ts';
import { webhookBatchWorkflow, type WebhookBatchActivities } from '../workflows/webhook-batch/contract.ts';
import { runOrGiveUp } from './blocking.ts';
import { family, type ActivityParts } from './family.ts';
import { withHeartbeat } from './heartbeat.ts';

/**
 * Workflow and activities for first webhook attempts. They run on the `workflows` queue because endpoints that are
 * known to be slow have their own workflows.
 */
export const webhookBatch = family<WebhookBatchActivities>({
  contract: webhookBatchWorkflow,
  queue: 'workflows',
  activities: createBatchActivities,
  mustBeOpen: undeliveredBatches('batch_id as "batchId"', 'batch_id <> endpoint_id'),
});

/**
 * Creates the activities for shared batches and for batches of a single endpoint. A batch serves many organizations and
 * cannot be blocked. If it keeps failing, each of its deliveries gets its own workflow.
 */
export function createBatchActivities({ engine }: ActivityParts): WebhookBatchActivities {
  return {
    async deliverBatch({ batchId, lane = false }) {
      const context = Context.current();
      const report = await runOrGiveUp(
        engine.deps,
        () => withHeartbeat(() => runBatch(engine, batchId, { lane, signal: context.cancellationSignal })),
        (error) => withHeartbeat(() => splitBatch(engine.deps, batchId, error)),
      );
      if (context.cancellationSignal.aborted)
        throw ApplicationFailure.create({ message: 'the worker stops; another one goes on', type: 'worker_stops' });
      return report;
    },
  };
}
