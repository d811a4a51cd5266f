import type { WorkflowContract } from '../contract.ts';

/** Which batch: first attempts that came together, or (`lane`) all that waits for one endpoint that is slow or failing. */
export interface WebhookBatchArgs {
  batchId: string;
  /** The batch of an endpoint, under its id: it has its own slots, so that it takes none from anybody else. */
  lane?: true;
}

/** "Look again": more was put into the endpoint's own batch. */
export const MORE = 'more';

/** First attempts of about a hundred webhook deliveries, side by side. */
export const webhookBatchWorkflow: WorkflowContract<WebhookBatchArgs> = {
  type: 'webhookBatch',
  kind: 'webhook-batch',
  id: ({ batchId }) => `webhook-batch/${batchId}`,
  summary: ({ batchId, lane }) => (lane ? `Webhooks of endpoint ${batchId}, by itself` : `Webhook batch ${batchId}`),
  // A batch serves whatever workspaces had events at the time.
  searchAttributes: () => ({ OrganizationId: 'installation' }),
};

/** What one turn of a batch did. `more` asks for another one. */
export interface BatchReport {
  delivered: number;
  failed: number;
  /** Left to the endpoint's own batch. */
  diverted: number;
  more: boolean;
}

/** Activities of this family, as the workflow sees them. */
export interface WebhookBatchActivities {
  /** Attempts what is in the batch and has no outcome yet; long, heartbeating. A repeat repeats only what had none. */
  deliverBatch(args: WebhookBatchArgs): Promise<BatchReport>;
}

/** Where work goes that may hang for as long as a receiver likes: a queue with slots of its own. */
export function slowQueue(taskQueue: string): string {
  return `${taskQueue}-webhooks`;
}
