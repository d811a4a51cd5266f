/**
 * NOTIFY channel that wakes the run of an open batch after a commit that added deliveries. The payload is the batch's
 * id.
 */
export const BATCH_CHANNEL = 'heron_webhook_batches';
