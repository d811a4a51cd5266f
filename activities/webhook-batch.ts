import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { splitBatch } from '../domain/connect/delivery/split-batch.ts';
import { runBatch } from '../domain/connect/delivery/run-batch.ts';
import { undeliveredBatches } from '../domain/connect/delivery/undelivered-batches.ts';
import { webhookBatchWorkflow, type WebhookBatchActivities } from '../workflows/webhook-batch/contract.ts';
import { orGiveUp } from './blocking.ts';
import { family, type ActivityParts } from './family.ts';
import { withPulse } from './pulse.ts';

/** First attempts at webhooks, which rest on no receiver that is known to be slow: they are on the workflows' queue. */
export const webhookBatch = family<WebhookBatchActivities>({
  contract: webhookBatchWorkflow,
  queue: 'workflows',
  activities: createBatchActivities,
  mustBeOpen: undeliveredBatches('batch_id as "batchId"', 'batch_id <> endpoint_id'),
});

/**
 * The activity of first attempts, and of the batch of one endpoint. A batch serves many organizations and cannot be blocked: where it keeps failing,
 * each of its deliveries gets a run of its own.
 */
export function createBatchActivities({ engine }: ActivityParts): WebhookBatchActivities {
  return {
    async deliverBatch({ batchId, lane = false }) {
      const context = Context.current();
      const report = await orGiveUp(
        engine.deps,
        () => withPulse(() => runBatch(engine, batchId, { lane, signal: context.cancellationSignal })),
        (error) => withPulse(() => splitBatch(engine.deps, batchId, error)),
      );
      if (context.cancellationSignal.aborted)
        throw ApplicationFailure.create({ message: 'the worker stops; another one goes on', type: 'worker_stops' });
      return report;
    },
  };
}
