import { json } from '../../../db/connection.ts';
import type { PaymentLine } from '../../../db/json-columns.ts';
import { newId } from '../../../lib/ids.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import type { PaymentRow } from './states.ts';

/** A payment to be opened. */
interface NewPayment {
  /** Id of the workspace, which must be that of the transaction. */
  organizationId: string;
  subject: PaymentRow['subject'];
  /** Id of the order or the renewal cycle. The payment of a later month has the id of its order. */
  subjectId: string;
  /** Amount due now, in cents. It must be the sum of the lines. */
  amountCents: number;
  /** ISO 4217 code in upper or lower case. */
  currency: string;
  lineItems: readonly PaymentLine[];
  /** URL after the checkout. Null for the dashboard. */
  returnUrl?: string | null;
}

/**
 * Creates a payment in state open. The payment provider is not called: `createCheckout` creates its page after the
 * commit.
 * @throws RangeError when the lines do not add up to the amount, which is a bug of the caller
 * @throws AppError conflict when the subject has a payment that is open or paid
 */
export async function openPayment(tx: Tx, payment: NewPayment): Promise<PaymentRow> {
  const { organizationId, subject, subjectId, amountCents, currency, lineItems, returnUrl = null } = payment;
  const sum = lineItems.reduce((total, { quantity, unit_cents: unit }) => total + quantity * unit, 0);
  if (sum !== amountCents) throw new RangeError(`the lines of the payment add up to ${sum}, not to ${amountCents}`);
  if (organizationId !== tx.org.organizationId) throw new RangeError('the payment is that of another workspace');
  const lines: PaymentLine[] = lineItems.map(({ label, quantity, unit_cents, interval }) => ({
    label,
    quantity,
    unit_cents,
    interval,
  }));
  const id = newId();
  await tx.org.insert('payments', {
    id,
    subject,
    subject_id: subjectId,
    amount_cents: amountCents,
    currency: currency.toLowerCase(),
    line_items: json(lines),
    return_url: returnUrl,
    created_at: tx.now,
    updated_at: tx.now,
  });
  tx.audit({
    action: 'create',
    entityType: 'payment',
    entityId: id,
    metadata: { subject, subject_id: subjectId, amount_cents: amountCents, currency },
  });
  return (await tx.org.table('payments').where({ id }).first())!;
}
