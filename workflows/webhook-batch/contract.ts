import { defineInstallationWorkflow, type ArgsOf } from '../contract.ts';

/** First attempts of about a hundred webhook deliveries, in parallel, for all organizations that had events at the time. */
export const webhookBatchWorkflow = defineInstallationWorkflow()({
  type: 'webhookBatch',
  kind: 'webhook-batch',
  parts: ['batchId'],
  summary: ({ batchId }) => `Webhook batch ${batchId}`,
  cancel:
    'Ends this run; maintenance opens another one for what is left. Switch an endpoint off to stop its deliveries.',
});

/** Which batch. */
export type WebhookBatchArgs = ArgsOf<typeof webhookBatchWorkflow>;

/** What one turn of a batch did. `more` asks for another one. */
export interface BatchReport {
  delivered: number;
  failed: number;
  /** Left to other runs: released to the endpoint's own batch, or, where this one kept failing, each to a run of its own. */
  diverted: number;
  more: boolean;
}

/** Activities of this family, as the workflow sees them. */
export interface WebhookBatchActivities {
  /**
   * Attempts the deliveries of the batch that have no outcome yet; long, heartbeating. A retry attempts only those.
   * One that keeps failing for RUN_BLOCK_AFTER_MS is dissolved: its deliveries get runs of their own.
   * `lane`: the batch is that of one endpoint, under the endpoint's id.
   */
  deliverBatch(args: { batchId: string; lane?: true }): Promise<BatchReport>;
}
