import type { Tx } from '../../platform/kernel/transact.ts';
import { signalDeliveries } from './enqueue.ts';

/**
 * Retries a failed delivery with its full number of attempts. The delivery returns to its old position in its lane,
 * before later deliveries that still wait.
 * @returns false if the delivery was deleted or already waits
 */
export async function retryDelivery(tx: Tx, deliveryId: string): Promise<boolean> {
  const [row] = await tx.org.sql<{ connection_id: string; lane_id: string }>(
    `select connection_id, lane_id from integration_deliveries where organization_id = :org and id = :id and state = 'failed'`,
    { id: deliveryId },
  );
  if (!row) return false;
  await tx.org.sql(
    `insert into integration_lanes (connection_id, lane_id, organization_id, due_at) values (:connection, :lane, :org, :now)
     on conflict (connection_id, lane_id) do update set due_at = integration_lanes.due_at`,
    { connection: row.connection_id, lane: row.lane_id, now: tx.now },
  );
  const changed = await tx.org
    .table('integration_deliveries')
    .where({ id: deliveryId, state: 'failed' })
    .update({ state: 'pending', attempts: 0, failed_at: null });
  signalDeliveries(tx, row.connection_id, 'replay');
  return Number(changed) > 0;
}
