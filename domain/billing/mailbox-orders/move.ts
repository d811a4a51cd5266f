import { json } from '../../../db/connection.ts';
import type { StoredIssue } from '../../../db/json-columns.ts';
import { notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { lockPaymentsOf } from '../payments/move.ts';
import type { OrderRow, OrderState } from './states.ts';

/** Values that a transition sets in addition to the state. */
interface OrderChange {
  /** Stable reason code, sent to webhooks. */
  reason?: string;
  error?: StoredIssue;
}

/** SQL assignment of the time at which an order reached a state. */
const MOMENT: Partial<Record<OrderState, string>> = {
  paid: 'paid_at = :now,',
  ready: 'ready_at = :now,',
  failed: 'failed_at = :now,',
  cancelled: 'cancelled_at = :now,',
};

/**
 * Moves an order to another state if its state is one of `from`, and writes its domain event and audit row. The state
 * is checked and changed in one UPDATE, so only one of two concurrent transitions succeeds. A failed or cancelled order
 * stays in progress until its steps are undone.
 * @returns the updated order; undefined if its state is none of these
 */
export async function moveOrder(
  tx: Tx,
  orderId: string,
  from: readonly OrderState[],
  to: OrderState,
  { reason, error }: OrderChange = {},
): Promise<OrderRow | undefined> {
  const [row] = await tx.org.sql<OrderRow & { previous_state: OrderState }>(
    `with held as (
       select id, state as previous_state from mailbox_orders where organization_id = :org and id = :id and state = any(:from) for update
     )
     update mailbox_orders o set state = :to, ${MOMENT[to] ?? ''} updated_at = :now, blocked_reason = null,
       under_way = :to <> 'ready', error = coalesce(:error::jsonb, error)
     from held where o.id = held.id returning o.*, held.previous_state`,
    { id: orderId, from, to, now: tx.now, error: error ? json(error) : null },
  );
  if (!row) return undefined;
  const { previous_state: previousState, ...order } = row;
  recordChange(tx, order, previousState, reason);
  return order;
}

/** Writes the domain event and audit row of an order's current state. */
export function recordChange(tx: Tx, order: OrderRow, previousState: OrderState | null, reason?: string): void {
  tx.emit('mailbox_order.state_changed', {
    provisioning_id: order.id,
    state: order.state,
    previous_state: previousState,
    reason: reason ?? null,
  });
  tx.audit({
    action: previousState === null ? 'create' : 'update',
    entityType: 'mailbox_order',
    entityId: order.id,
    changes: { state: { from: previousState, to: order.state } },
    ...(reason ? { metadata: { reason } } : {}),
  });
}

/**
 * Locks the payments of an order and then the order. The processing of a payment uses the same sequence.
 * @throws AppError not_found
 */
export async function lockWithPayments(tx: Tx, orderId: string): Promise<OrderRow> {
  if (!isUuid(orderId)) throw notFound('order');
  await lockPaymentsOf(tx, orderId);
  return lockOrder(tx, orderId);
}

/**
 * Locks an order, so that changes of its steps, its payment and its state wait for each other.
 * @throws AppError not_found
 */
export async function lockOrder(tx: Tx, orderId: string): Promise<OrderRow> {
  const [order] = isUuid(orderId)
    ? await tx.org.sql<OrderRow>('select * from mailbox_orders where organization_id = :org and id = :id for update', {
        id: orderId,
      })
    : [];
  if (!order) throw notFound('order');
  return order;
}
