import { defineWorkflow, type ArgsOf } from '../contract.ts';

/** Signals of a delivery. */
export type WebhookDeliverySignals = {
  /** The delivery was asked for again (`redelivery`), or the sweep found it without a run: attempt it now. */
  hurry: { cause: 'redelivery' | 'operator' | 'sweep' };
};

/** A delivery whose first attempt failed, or that was asked for again: attempts by the retry schedule until it settles. */
export const webhookDeliveryWorkflow = defineWorkflow<WebhookDeliverySignals>()({
  type: 'webhookDelivery',
  kind: 'webhook-delivery',
  parts: ['deliveryId'],
  summary: ({ deliveryId }) => `Webhook delivery ${deliveryId}`,
  cancel: 'A request that is under way is finished; maintenance opens another run. Switch the endpoint off to stop.',
});

/** Arguments of a delivery's own run. */
export type WebhookDeliveryArgs = ArgsOf<typeof webhookDeliveryWorkflow>;

/** The result of an attempt. `at` is epoch milliseconds; `why` names kinds and numbers, no addresses. */
export type DeliveryReport = { state: 'waiting'; at: number; why: string } | { state: 'settled'; why: string };

/** Activities of this family, as the workflow sees them. */
export interface WebhookDeliveryActivities {
  /**
   * Makes the attempt that is due and fails, with the time of the next one as its retry delay, until the delivery is
   * settled. `why` names kinds and numbers, no addresses.
   */
  deliverWebhook(args: WebhookDeliveryArgs): Promise<{ why: string }>;
}
