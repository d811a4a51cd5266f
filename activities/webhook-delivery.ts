import type { DeliveryEngine } from '../domain/connect/delivery/engine.ts';
import { attemptDelivery } from '../domain/connect/delivery/retry.ts';
import type { WebhookDeliveryActivities } from '../workflows/webhook-delivery/contract.ts';
import { orBlock } from './blocking.ts';
import { notYet } from './not-yet.ts';
import { withPulse } from './pulse.ts';

/** Activities of one delivery with its retry schedule, which PostgreSQL keeps: each failure carries the delay of the next attempt. */
export function createWebhookDeliveryActivities(engine: DeliveryEngine): WebhookDeliveryActivities {
  return {
    async deliverWebhook(args) {
      const report = await orBlock(engine.deps, args.organizationId, () =>
        withPulse(() => attemptDelivery(engine, args)),
      );
      if (report.state === 'settled') return { why: report.why };
      throw notYet('delivery_waits', report.why, report.at - engine.deps.clock.now().getTime());
    },
  };
}
