import { defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { resourceQueue } from '../queues.ts';
import { attemptAll } from './attempts.ts';
import { MORE, type BatchReport, type WebhookBatchActivities, type WebhookBatchArgs } from './contract.ts';

/** A batch takes as long as its slowest receiver; a worker that dies is noticed by its missing heartbeat. */
const OPTIONS = {
  startToCloseTimeout: '10m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '30s' },
} as const;

const more = defineSignal(MORE);

/**
 * One batch, until every delivery in it has an outcome. Its deliveries and their outcomes are in PostgreSQL. `lane` is
 * an argument of runs that earlier releases opened for the batch of one endpoint (now workflows/webhook-endpoint).
 */
export async function webhookBatch(args: WebhookBatchArgs & { lane?: true }): Promise<BatchReport> {
  const { deliverBatch } = proxyActivities<WebhookBatchActivities>(
    args.lane
      ? {
          ...OPTIONS,
          taskQueue: resourceQueue(workflowInfo().taskQueue, 'webhooks'),
          summary: 'attempt what waits for this endpoint',
        }
      : { ...OPTIONS, summary: 'first attempts, side by side' },
  );
  return attemptAll(args, more, () => deliverBatch(args));
}
