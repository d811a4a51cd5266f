import { json } from '../../../db/connection.ts';
import type { StoredIssue } from '../../../db/json-columns.ts';
import { notFound } from '../../../lib/errors.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import type { PaymentRow, PaymentState } from './states.ts';

/** Values that a transition sets in addition to the state. Absent fields stay unchanged. */
interface PaymentChange {
  /** Stable reason code, kept in the audit log and sent in the event. */
  reason?: string;
  error?: StoredIssue;
  columns?: Partial<
    Pick<
      PaymentRow,
      | 'provider_customer_id'
      | 'provider_payment_id'
      | 'provider_invoice_id'
      | 'provider_subscription_id'
      | 'provider_refund_id'
      | 'period_end'
      | 'received_cents'
      | 'received_currency'
      | 'paid_at'
      | 'refund_reason'
      | 'refund_due_at'
      | 'refund_until'
      | 'refund_attempts'
      | 'refund_round'
      | 'refunded_at'
    >
  >;
}

/**
 * Moves a payment to another state if its state is one of `from`, with its audit row and event. The state is checked
 * and changed in one UPDATE, so only one of two concurrent transitions succeeds.
 * @returns the updated payment; undefined if its state is none of these
 */
export async function movePayment(
  tx: Tx,
  paymentId: string,
  from: readonly PaymentState[],
  to: PaymentState,
  { reason, error, columns = {} }: PaymentChange = {},
): Promise<PaymentRow | undefined> {
  const before = await tx.org.table('payments').where({ id: paymentId }).forNoKeyUpdate().first('state');
  const [payment] = await tx.org
    .table('payments')
    .where({ id: paymentId })
    .whereIn('state', [...from])
    .update({
      ...columns,
      state: to,
      error: error ? json(error) : null,
      blocked_reason: null,
      updated_at: tx.now,
    })
    .returning('*');
  if (!payment) return undefined;
  tx.audit({
    action: 'update',
    entityType: 'payment',
    entityId: paymentId,
    changes: { state: { from: before!.state, to } },
    ...(reason ? { metadata: { reason } } : {}),
  });
  tx.emit('payment.state_changed', {
    payment_id: payment.id,
    subject: payment.subject,
    subject_id: payment.subject_id,
    state: to,
    reason: reason ?? null,
    amount_cents: payment.amount_cents,
    currency: payment.currency,
  });
  return payment;
}

/**
 * Locks a payment and all others of its subject, oldest first, and returns it. Payments are always locked before their
 * order or renewal.
 * @throws AppError not_found
 */
export async function lockPayment(tx: Tx, paymentId: string): Promise<PaymentRow> {
  const named = await tx.org.table('payments').where({ id: paymentId }).first('subject_id');
  const locked = named ? await lockPaymentsOf(tx, named.subject_id as string) : [];
  const payment = locked.find(({ id }) => id === paymentId);
  if (!payment) throw notFound('payment');
  return payment;
}

/** Locks every payment of an order, including its later months, or of a renewal. Oldest first. */
export function lockPaymentsOf(tx: Tx, subjectId: string): Promise<PaymentRow[]> {
  return tx.org.sql<PaymentRow>(
    `select * from payments where organization_id = :org and subject in ('order', 'order_month', 'renewal') and subject_id = :id
     order by id for update`,
    { id: subjectId },
  );
}
