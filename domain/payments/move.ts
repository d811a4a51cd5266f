import { json } from '../../db/connection.ts';
import type { StoredIssue } from '../../db/json-columns.ts';
import type { Tx } from '../kernel/transact.ts';
import type { PaymentRow, PaymentState } from './states.ts';

/** What a transition changes beside the state. What is left out stays. */
export interface PaymentChange {
  /** Why, as a stable code; kept in the audit log. */
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
 * Moves a payment to another state if it is in one of `from`: one conditional UPDATE, which decides between concurrent
 * transitions, with its audit row.
 * @returns the payment as it is now; undefined when it was in none of these states
 */
export async function movePayment(
  tx: Tx,
  paymentId: string,
  from: readonly PaymentState[],
  to: PaymentState,
  { reason, error, columns = {} }: PaymentChange = {},
): Promise<PaymentRow | undefined> {
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
    changes: { state: { to } },
    ...(reason ? { metadata: { reason } } : {}),
  });
  return payment;
}
