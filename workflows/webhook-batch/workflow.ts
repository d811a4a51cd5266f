import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { resourceQueue } from '../queues.ts';
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
  let again = true;
  setHandler(more, () => {
    again = true;
  });
  const total: BatchReport = { delivered: 0, failed: 0, diverted: 0, more: false };
  while (again) {
    again = false;
    const turn = await deliverBatch(args);
    total.delivered += turn.delivered;
    total.failed += turn.failed;
    total.diverted += turn.diverted;
    setCurrentDetails(`${total.delivered} delivered, ${total.failed} failed, ${total.diverted} left to other runs`);
    if (turn.more) again = true;
    if (again && workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof webhookBatch>(args);
    }
  }
  return total;
}
