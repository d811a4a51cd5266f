import { signal } from '../../../temporal/dispatch.ts';
import { webhookDeliveryWorkflow } from '../../../workflows/webhook-delivery/contract.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { DELIVERY_COLUMNS, type DeliveryView } from './deliveries.ts';

/**
 * Enqueues a delivery again, in any status: a new attempt at once, of the same event with the same body, signed
 * with the newest secret. Attempts continue to count, with as many more before it is abandoned, and the backoff starts
 * again. A running attempt is recorded, but no longer decides. Undefined for an unknown delivery.
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
