import { defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { resourceQueue } from '../queues.ts';
import { attemptAll } from '../webhook-batch/attempts.ts';
import type { BatchReport, WebhookBatchActivities } from '../webhook-batch/contract.ts';
import { webhookEndpointWorkflow, type WebhookEndpointArgs, type WebhookEndpointSignals } from './contract.ts';

const more = defineSignal<[WebhookEndpointSignals['more']]>('more');

/**
 * Runs the deliveries that wait for one slow or failing endpoint, until none remains. Their outcomes are in PostgreSQL.
 */
export async function webhookEndpoint({ endpointId }: WebhookEndpointArgs): Promise<BatchReport> {
  const { deliverBatch } = proxyActivities<WebhookBatchActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'webhooks'),
    summary: 'attempt what waits for this endpoint',
    startToCloseTimeout: '10m',
    heartbeatTimeout: '10s',
    retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '30s' },
  });
  return attemptAll(
    webhookEndpointWorkflow,
    { endpointId },
    () => deliverBatch({ batchId: endpointId, lane: true }),
    more,
  );
}
