/**
 * NOTIFY channel that announces new deliveries of an open batch to its running activity, after the commit. The payload
 * is the batch's id.
 */
export const BATCH_CHANNEL = 'heron_webhook_batches';
