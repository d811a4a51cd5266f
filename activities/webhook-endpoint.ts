import { undeliveredBatches } from '../domain/connect/delivery/undelivered-batches.ts';
import type { WebhookBatchActivities } from '../workflows/webhook-batch/contract.ts';
import { webhookEndpointWorkflow } from '../workflows/webhook-endpoint/contract.ts';
import { family } from './family.ts';
import { createBatchActivities } from './webhook-batch.ts';

/**
 * Workflow and activities for the deliveries to one slow or failing endpoint, which form a batch. The batch's id is the
 * endpoint's id.
 */
export const webhookEndpoint = family<WebhookBatchActivities>({
  contract: webhookEndpointWorkflow,
  queue: 'webhooks',
  activities: createBatchActivities,
  mustBeOpen: {
    ...undeliveredBatches('batch_id as "endpointId"', 'batch_id = endpoint_id'),
    signal: { name: 'more', payload: { cause: 'sweep' } },
  },
});
