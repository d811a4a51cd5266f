import Stripe from 'stripe';
import { MINUTE_MS } from '../../../lib/clock.ts';
import type { RenewalReport } from '../../../workflows/domain-renewal/contract.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { chargeSaved, createCheckout, readPayment, savedMethod, type ChargeResult } from '../payments/checkout.ts';
import { movePayment } from '../payments/move.ts';
import { openPayment } from '../payments/open.ts';
import { requestRefund } from '../payments/request-refund.ts';
import type { PaymentRow } from '../payments/states.ts';
import { refusalOf } from '../payments/stripe.ts';
import { recheckLater, orderInUse, type Cycle } from './cycle.ts';
import { requireAction } from './move.ts';
import { recordRenewalPaid } from './paid.ts';

/** Delay (ms) before the payment provider is called again if it did not respond. */
const RETRY_MS = 10 * MINUTE_MS;

/**
 * Charges a renewal to the saved payment method of the domain's order, without a person present. A person must pay if
 * no method is saved, or if the bank refuses or requires the cardholder.
 * @returns undefined when the cycle has advanced
 */
export async function chargeCycle(ctx: Ctx, cycle: Cycle): Promise<RenewalReport | undefined> {
  const payment = await readPayment(ctx, cycle.renewal.payment_id!);
  // Waits for the payment provider's webhook, which advances the cycle.
  if (payment.state === 'paid') return recheckLater(ctx, cycle, 'it was paid', MINUTE_MS);
  if (payment.state !== 'open') return refused(ctx, cycle, payment, payment.state);
  let charged: ChargeResult;
  try {
    const method = await methodOfOrder(ctx, cycle);
    charged = method ? await chargeSaved(ctx, payment, method) : { kind: 'refused', code: 'no_method' };
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    if (refusalOf(error)) return refused(ctx, cycle, payment, 'no_method');
    return recheckLater(ctx, cycle, 'the payment provider does not answer', RETRY_MS);
  }
  if (charged.kind === 'processing') return recheckLater(ctx, cycle, 'the payment is under way');
  if (charged.kind === 'refused') return refused(ctx, cycle, payment, charged.code);
  await transact(ctx, async (tx) => {
    // Also accepts an `expired` payment, because the domain may have been released. Does nothing if the webhook has
    // already reported this payment.
    const paid = await movePayment(tx, payment.id, ['open', 'expired'], 'paid', {
      reason: 'paid',
      columns: {
        provider_payment_id: charged.paymentIntentId,
        received_cents: charged.receivedCents,
        received_currency: charged.currency,
        paid_at: tx.now,
      },
    });
    const fate = paid && (await recordRenewalPaid(tx, cycle.renewal.id, payment.id));
    // Refunds the payment if the renewal cycle ended while the payment was in progress.
    if (fate === 'too_late') await requestRefund(tx, payment.id, 'paid_too_late');
  });
  return undefined;
}

async function methodOfOrder(ctx: Ctx, { domain }: Cycle) {
  const order = await orderInUse(ctx, domain);
  return order?.payment_id ? savedMethod(ctx, await readPayment(ctx, order.payment_id)) : null;
}

/** Marks the payment as failed after a refused charge. After that, a person must pay on a checkout page. */
async function refused(ctx: Ctx, { renewal }: Cycle, payment: PaymentRow, code: string): Promise<undefined> {
  await transact(ctx, async (tx) => {
    await movePayment(tx, payment.id, ['open'], 'failed', { reason: 'charge_refused' });
    await requireAction(tx, renewal, 'renewal_payment_required', { detail: code });
  });
}

/**
 * Keeps a checkout page open until the registration ends, so that a person can pay for the renewal. An expired page is
 * replaced.
 * @returns undefined when the cycle has advanced
 */
export async function keepCheckoutOpen(ctx: Ctx, cycle: Cycle): Promise<RenewalReport | undefined> {
  const { renewal } = cycle;
  const last = await readPayment(ctx, renewal.payment_id!);
  if (last.state === 'paid') return recheckLater(ctx, cycle, 'it was paid', MINUTE_MS);
  const payment = last.state === 'open' ? last : await openNextPayment(ctx, cycle, last);
  if (!payment) return undefined;
  try {
    await createCheckout(ctx, payment.id);
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    return recheckLater(ctx, cycle, 'the payment provider does not answer', RETRY_MS);
  }
  return recheckLater(ctx, cycle, 'a person has to pay');
}

async function openNextPayment(ctx: Ctx, { renewal }: Cycle, last: PaymentRow): Promise<PaymentRow | undefined> {
  return transact(ctx, async (tx) => {
    const [mine] = await tx.org.sql(
      `select id from domain_renewals where organization_id = :org and id = :id and state = 'requires_action' and payment_id = :payment for update`,
      { id: renewal.id, payment: last.id },
    );
    if (!mine) return undefined;
    const payment = await openPayment(tx, {
      organizationId: tx.org.organizationId,
      subject: 'renewal',
      subjectId: renewal.id,
      amountCents: last.amount_cents,
      currency: last.currency,
      lineItems: last.line_items,
    });
    await tx.org.table('domain_renewals').where({ id: renewal.id }).update({ payment_id: payment.id });
    return payment;
  });
}
