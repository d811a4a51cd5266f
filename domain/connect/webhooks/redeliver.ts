import { AppError, notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { withPayloads, type DeliveryWithPayload } from './deliveries.ts';
import { enqueueRedelivery } from './enqueue-redelivery.ts';

/**
 * Sends an event to its endpoint again, in any status and with the same event id.
 * @throws AppError not_found, also for an application's delivery; conflict when the endpoint is disabled or not
 * verified
 */
export async function redeliver(ctx: Ctx, id: string): Promise<DeliveryWithPayload> {
  return transact(ctx, async (tx) => {
    const known =
      isUuid(id) &&
      (await tx.org.table('webhook_deliveries').where({ id }).whereNull('application_id').first('id', 'endpoint_id'));
    if (known) await assertServed(tx, known.endpoint_id);
    const delivery = known ? await enqueueRedelivery(ctx, tx, id) : undefined;
    if (!delivery) throw notFound('webhook_delivery');
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

/**
 * Checks that an endpoint receives deliveries. @throws AppError conflict if the endpoint is disabled or not verified
 */
async function assertServed(tx: Tx, endpointId: string): Promise<void> {
  const endpoint = await tx.org
    .table('webhook_endpoints')
    .where({ id: endpointId })
    .forNoKeyUpdate()
    .first('enabled', 'verified_at');
  if (endpoint?.enabled && endpoint.verified_at !== null) return;
  const code = endpoint?.enabled ? 'connect.endpoint_unverified' : 'connect.endpoint_off';
  throw new AppError('conflict', message(code), { fix: message(`${code}.fix`) });
}
