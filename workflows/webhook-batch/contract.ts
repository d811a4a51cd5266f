import { defineInstallationWorkflow, type ArgsOf } from '../contract.ts';

/**
 * First attempts of about a hundred webhook deliveries, in parallel, for all organizations that had events at the time.
 */
export const webhookBatchWorkflow = defineInstallationWorkflow()({
  type: 'webhookBatch',
  kind: 'webhook-batch',
  parts: ['batchId'],
  summary: ({ batchId }) => `Webhook batch ${batchId}`,
  cancel:
    'Ends this run; maintenance opens another one for what is left. Switch an endpoint off to stop its deliveries.',
});

/** Arguments of a batch. */
export type WebhookBatchArgs = ArgsOf<typeof webhookBatchWorkflow>;

/** Result of one iteration of a batch. `more` requests another one. */
export interface BatchReport {
  delivered: number;
  failed: number;
  /**
   * Number of deliveries moved to other workflows: to the endpoint's own batch, or each to its own workflow if this
   * batch failed repeatedly.
   */
  diverted: number;
  more: boolean;
  /** Time (ms) until the next delivery of an endpoint's batch is due. Absent if no delivery waits. */
  waitMs?: number;
}

/** Activities that the workflow calls. */
export interface WebhookBatchActivities {
  /**
   * Attempts the deliveries of the batch that have no outcome yet. Takes long and sends heartbeats. A batch that keeps
   * failing for RUN_BLOCK_AFTER_MS is dissolved, and its deliveries get their own workflows. `lane` is true if the
   * batch belongs to one endpoint, whose id it has.
   */
  deliverBatch(args: { batchId: string; lane?: true }): Promise<BatchReport>;
}
