import { proxyActivities } from '@temporalio/workflow';
import { attemptAll } from './attempts.ts';
import {
  webhookBatchWorkflow,
  type BatchReport,
  type WebhookBatchActivities,
  type WebhookBatchArgs,
} from './contract.ts';

/** Attempts the deliveries of one batch until each has an outcome. Deliveries and outcomes are in PostgreSQL. */
export async function webhookBatch(args: WebhookBatchArgs): Promise<BatchReport> {
  // The timeout is long, because a batch takes as long as its slowest receiver. A worker that dies is detected by its
  // missing heartbeat.
  const { deliverBatch } = proxyActivities<WebhookBatchActivities>({
    summary: 'first attempts, side by side',
    startToCloseTimeout: '10m',
    heartbeatTimeout: '10s',
    retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '30s' },
  });
  return attemptAll(webhookBatchWorkflow, args, () => deliverBatch(args));
}
