/**
 * NOTIFY channel that wakes the workflow of an open batch after a commit with new deliveries. The payload is the
 * batch's id.
 */
export const BATCH_CHANNEL = 'heron_webhook_batches';
