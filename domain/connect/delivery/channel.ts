/** Channel on which the run of an open batch is woken after a commit that added deliveries; the payload is the batch's id. */
export const BATCH_CHANNEL = 'heron_webhook_batches';
