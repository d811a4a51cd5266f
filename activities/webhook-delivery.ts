import { attemptDelivery } from '../domain/connect/delivery/retry.ts';
import { webhookDeliveryWorkflow, type WebhookDeliveryActivities } from '../workflows/webhook-delivery/contract.ts';
import { runOrBlock } from './blocking.ts';
import { family } from './family.ts';
import { retryLater } from './retry-later.ts';
import { withHeartbeat } from './heartbeat.ts';

/**
 * Workflow and activities for single webhook deliveries with retries. PostgreSQL stores the retry schedule. A failed
 * activity passes the delay until the next attempt to Temporal.
 */
export const webhookDelivery = family<WebhookDeliveryActivities>({
  contract: webhookDeliveryWorkflow,
  queue: 'webhooks',
  activities: ({ engine }) => ({
    async deliverWebhook(args) {
      const report = await runOrBlock(engine.deps, args.organizationId, () =>
        withHeartbeat(() => attemptDelivery(engine, args)),
      );
      if (report.state === 'settled') return { why: report.why };
      throw retryLater('delivery_waits', report.why, report.at - engine.deps.clock.now().getTime());
    },
  }),
  mustBeOpen: {
    table: 'webhook_deliveries',
    open: `batch_id is null and status in ('pending', 'in_flight', 'failed')`,
    attributes: { EndpointId: 'endpoint_id' },
  },
  blocked: {
    taskType: 'webhook_delivery',
    restricted: 'hidden',
    open: `status in ('pending', 'in_flight', 'failed')`,
    signal: 'hurry',
    isStamped: true,
  },
});
