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
import type { BatchReport, WebhookBatchActivities } from '../webhook-batch/contract.ts';
import type { WebhookEndpointArgs, WebhookEndpointSignals } from './contract.ts';

const more = defineSignal<[WebhookEndpointSignals['more']]>('more');

/** The deliveries that wait for one slow or failing endpoint, until none is left. Their outcomes are in PostgreSQL. */
export async function webhookEndpoint({ endpointId }: WebhookEndpointArgs): Promise<BatchReport> {
  const { deliverBatch } = proxyActivities<WebhookBatchActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'webhooks'),
    summary: 'attempt what waits for this endpoint',
    startToCloseTimeout: '10m',
    heartbeatTimeout: '10s',
    retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '30s' },
  });
  let again = true;
  setHandler(more, () => {
    again = true;
  });
  const total: BatchReport = { delivered: 0, failed: 0, diverted: 0, more: false };
  while (again) {
    again = false;
    const turn = await deliverBatch({ batchId: endpointId, lane: true });
    total.delivered += turn.delivered;
    total.failed += turn.failed;
    total.diverted += turn.diverted;
    setCurrentDetails(`${total.delivered} delivered, ${total.failed} failed, ${total.diverted} left to other runs`);
    if (turn.more) again = true;
    if (again && workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof webhookEndpoint>({ endpointId });
    }
  }
  return total;
}
