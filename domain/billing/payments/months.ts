import type { Tx } from '../../platform/kernel/transact.ts';
import { movePayment } from './move.ts';
import { openPayment } from './open.ts';
import type { PaymentRow } from './states.ts';
import { message } from '../../../messages/index.ts';

/** A later month of a subscription, as its invoice says. */
export interface Month {
  invoiceId: string;
  /** What was paid; 0 while it is not. */
  cents: number;
  /** ISO 4217, lower-case. */
  currency: string;
  endsAt: Date;
}

/** Until when a payment of an order is delivered: the end of its month. A condition's left side over `payments`. */
export const PAID_UNTIL = `coalesce(period_end, paid_at + interval '1 month')`;

/**
 * Records a month of an order that was paid: a payment of its own, which can be given back by itself. The first payment of the order is locked,
 * so that the events of its subscription are taken one by one.
 * @returns undefined when the invoice is known
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

/** Whether a month of an order, or a later one, was paid: then an older word that it was not says nothing any more. */
export async function isMonthPaid(tx: Tx, orderId: string, { invoiceId, endsAt }: Month): Promise<boolean> {
  const rows = await tx.org.sql(
    `select id from payments
     where organization_id = :org and subject = 'order_month' and subject_id = :order and (provider_invoice_id = :invoice or period_end >= :end) limit 1`,
    { order: orderId, invoice: invoiceId, end: endsAt },
  );
  return rows.length > 0;
}

/** Whether the time that a payment was for is not over; also true of one that was never made. */
export async function isUnderWay(tx: Tx, { id }: Pick<PaymentRow, 'id'>): Promise<boolean> {
  const over = await tx.org.sql(
    `select id from payments where organization_id = :org and id = :id and ${PAID_UNTIL} <= :now`,
    { id, now: tx.now },
  );
  return over.length === 0;
}
