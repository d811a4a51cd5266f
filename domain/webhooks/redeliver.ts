import { notFound } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import type { Ctx } from '../kernel/context.ts';
import { transact } from '../kernel/transact.ts';
import { withPayloads, type DeliveryWithPayload } from './deliveries.ts';
import { enqueueRedelivery } from './enqueue-redelivery.ts';

/**
 * Sends an event to its endpoint again, in any status of its delivery; the event id stays.
 * @throws AppError not_found, for an application's delivery too
 */
export async function redeliver(ctx: Ctx, id: string): Promise<DeliveryWithPayload> {
  return transact(ctx, async (tx) => {
    const known =
      isUuid(id) && (await tx.org.table('webhook_deliveries').where({ id }).whereNull('application_id').first('id'));
    const delivery = known ? await enqueueRedelivery(ctx, tx, id) : undefined;
    if (!delivery) throw notFound('Webhook delivery');
    tx.audit({
      action: 'redeliver',
      entityType: 'webhook',
      entityId: delivery.endpoint_id,
      metadata: { delivery_id: id, event_id: delivery.event_id },
    });
    const { rows } = await withPayloads({ ...ctx, trx: tx.trx }, { rows: [delivery], nextCursor: null });
    return rows[0]!;
  });
}
