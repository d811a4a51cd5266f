import { defineWorkflow, type ArgsOf } from '../contract.ts';

/** Signals of a delivery. */
export type WebhookDeliverySignals = {
  /** Attempts the delivery at once, because it was requested again or because the sweep found it without a workflow. */
  hurry: { cause: 'redelivery' | 'operator' | 'sweep' };
};

/**
 * Delivery whose first attempt failed or that was requested again. Attempts follow the retry schedule until the
 * delivery is settled.
 */
export const webhookDeliveryWorkflow = defineWorkflow<WebhookDeliverySignals>()({
  type: 'webhookDelivery',
  kind: 'webhook-delivery',
  parts: ['deliveryId'],
  summary: ({ deliveryId }) => `Webhook delivery ${deliveryId}`,
  cancel: 'A request that is under way is finished; maintenance opens another run. Switch the endpoint off to stop.',
});

/** Arguments of a delivery's own workflow. */
export type WebhookDeliveryArgs = ArgsOf<typeof webhookDeliveryWorkflow>;

/** Result of an attempt. `at` is epoch milliseconds; `why` contains kinds and numbers, but no addresses. */
export type DeliveryReport = { state: 'waiting'; at: number; why: string } | { state: 'settled'; why: string };

/** Activities that the workflow calls. */
export interface WebhookDeliveryActivities {
  /**
   * Makes the due attempt. If the delivery is not settled afterwards, the activity fails, with the time until the next
   * attempt as its retry delay. `why` contains kinds and numbers, but no addresses.
   */
  deliverWebhook(args: WebhookDeliveryArgs): Promise<{ why: string }>;
}
