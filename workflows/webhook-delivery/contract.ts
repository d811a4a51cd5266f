import { defineWorkflow, type ArgsOf } from '../contract.ts';

/** Signals of a delivery. */
export type WebhookDeliverySignals = {
  /** The delivery was asked for again (`redelivery`), or the sweep found it forgotten: attempt it now. */
  hurry: { cause: 'redelivery' | 'sweep' };
};

/** A delivery whose first attempt failed, or that was asked for again: attempts by the retry schedule until it settles. */
export const webhookDeliveryWorkflow = defineWorkflow<WebhookDeliverySignals>()({
  type: 'webhookDelivery',
  kind: 'webhook-delivery',
  parts: ['deliveryId'],
  summary: ({ deliveryId }) => `Webhook delivery ${deliveryId}`,
});

/** Arguments of a delivery's own run. */
export type WebhookDeliveryArgs = ArgsOf<typeof webhookDeliveryWorkflow>;

/** What an attempt came to. `at` is epoch milliseconds; `why` names kinds and numbers, no addresses. */
export type DeliveryReport = { state: 'waiting'; at: number; why: string } | { state: 'settled'; why: string };

/** Activities of this family, as the workflow sees them. */
export interface WebhookDeliveryActivities {
  /** Makes the attempt that is due, if one is, and says what comes next. */
  attemptDelivery(args: { organizationId: string; deliveryId: string }): Promise<DeliveryReport>;
}
