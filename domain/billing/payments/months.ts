import type { Tx } from '../../platform/kernel/transact.ts';
import { movePayment } from './move.ts';
import { openPayment } from './open.ts';
import type { PaymentRow } from './states.ts';
import { message } from '../../../messages/index.ts';

/** A later month of a subscription, as stated by its invoice. */
export interface Month {
  invoiceId: string;
  /** Amount paid, in cents. It is 0 while unpaid. */
  cents: number;
  /** ISO 4217 code in lower case. */
  currency: string;
  endsAt: Date;
}

/** SQL expression for the end of the period that a payment of an order covers. Uses columns of `payments`. */
export const PAID_UNTIL = `coalesce(period_end, paid_at + interval '1 month')`;

/**
 * Records a paid month of an order as a separate payment, which can be refunded separately. The order's first payment
 * must be locked, so that the events of its subscription are applied one after the other.
 * @returns undefined if the invoice was recorded before
 */
export async function recordMonth(tx: Tx, orderId: string, month: Month): Promise<PaymentRow | undefined> {
  const { invoiceId, cents, currency, endsAt } = month;
  if (await tx.org.table('payments').where({ subject: 'order_month', provider_invoice_id: invoiceId }).first('id'))
    return undefined;
  const { id } = await openPayment(tx, {
    organizationId: tx.org.organizationId,
    subject: 'order_month',
    subjectId: orderId,
    amountCents: cents,
    currency,
    lineItems: [{ label: message('line.another_month'), quantity: 1, unit_cents: cents, interval: 'month' }],
  });
  return movePayment(tx, id, ['open'], 'paid', {
    reason: 'paid',
    columns: {
      provider_invoice_id: invoiceId,
      received_cents: cents,
      received_currency: currency,
      paid_at: tx.now,
      period_end: endsAt,
    },
  });
}

/**
 * Returns true if this month of an order, or a later one, was paid. A report that this month is unpaid is then
 * outdated.
 */
export async function isMonthPaid(tx: Tx, orderId: string, { invoiceId, endsAt }: Month): Promise<boolean> {
  const rows = await tx.org.sql(
    `select id from payments
     where organization_id = :org and subject = 'order_month' and subject_id = :order and (provider_invoice_id = :invoice or period_end >= :end) limit 1`,
    { order: orderId, invoice: invoiceId, end: endsAt },
  );
  return rows.length > 0;
}

/** Returns true if the period of a payment has not ended, or if the payment was never made. */
export async function isPeriodOpen(tx: Tx, { id }: Pick<PaymentRow, 'id'>): Promise<boolean> {
  const over = await tx.org.sql(
    `select id from payments where organization_id = :org and id = :id and ${PAID_UNTIL} <= :now`,
    { id, now: tx.now },
  );
  return over.length === 0;
}
