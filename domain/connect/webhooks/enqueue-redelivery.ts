import { signal } from '../../../temporal/dispatch.ts';
import { webhookDeliveryWorkflow } from '../../../workflows/webhook-delivery/contract.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { DELIVERY_COLUMNS, type DeliveryView } from './deliveries.ts';

/**
 * Queues a new immediate attempt of a delivery in any status, with the same event id and body, signed with the newest
 * secret. Attempt numbers continue, the delivery gets the full number of further attempts, and the backoff restarts.
 * The result of a running attempt is still recorded, but no longer changes the delivery's status. Returns undefined for
 * an unknown delivery.
 */
export async function enqueueRedelivery(
  ctx: Pick<Ctx, 'config'>,
  tx: Tx,
  deliveryId: string,
): Promise<DeliveryView | undefined> {
  const [delivery] = await tx.org
    .table('webhook_deliveries')
    .where({ id: deliveryId })
    .update({
      status: 'pending',
      batch_id: null,
      secret_id: null,
      next_attempt_at: tx.now,
      error_reason: null,
      blocked_reason: null,
      updated_at: tx.now,
      earlier_attempts: tx.org.raw('attempt_count'),
      max_attempts: tx.org.raw('attempt_count + :more::int', { more: ctx.config.WEBHOOK_MAX_ATTEMPTS }),
    })
    .returning(DELIVERY_COLUMNS);
  if (delivery) {
    tx.intend(
      signal(
        webhookDeliveryWorkflow,
        { organizationId: tx.org.organizationId, deliveryId },
        'hurry',
        { cause: 'redelivery' },
        { attributes: { EndpointId: delivery.endpoint_id } },
      ),
    );
  }
  return delivery;
}
