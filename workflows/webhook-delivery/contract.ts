import type { WorkflowContract } from '../contract.ts';

/** Arguments of a delivery's own run: ids, and when (epoch ms) it is due. */
export interface WebhookDeliveryArgs {
  organizationId: string;
  deliveryId: string;
  at: number;
}

/** "Now": somebody asked for the delivery to be made again. */
export const HURRY = 'hurry';

/** A delivery whose first attempt failed, or that was asked for again: attempts by the retry schedule until it settles. */
export const webhookDeliveryWorkflow: WorkflowContract<WebhookDeliveryArgs> = {
  type: 'webhookDelivery',
  kind: 'webhook-delivery',
  id: ({ deliveryId }) => `webhook-delivery/${deliveryId}`,
  summary: ({ deliveryId }) => `Webhook delivery ${deliveryId}`,
  searchAttributes: ({ organizationId }) => ({ OrganizationId: organizationId }),
};

/** What an attempt came to. `at` is epoch milliseconds; `why` names kinds and numbers, no addresses. */
export type DeliveryReport = { state: 'waiting'; at: number; why: string } | { state: 'settled'; why: string };

/** Activities of this family, as the workflow sees them. */
export interface WebhookDeliveryActivities {
  /** Makes the attempt that is due, if one is, and says what comes next. */
  attemptDelivery(args: { organizationId: string; deliveryId: string }): Promise<DeliveryReport>;
}
