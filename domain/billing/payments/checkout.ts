import type Stripe from 'stripe';
import type { Config } from '../../../lib/config/index.ts';
import { notFound } from '../../../lib/errors.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { singleStatement, reader, transact } from '../../platform/kernel/transact.ts';
import { movePayment } from './move.ts';
import type { PaymentRow } from './states.ts';
import { idOf, refusalOf, stripeOf } from './stripe.ts';
import { render } from '../../../messages/render.ts';

/**
 * Creates the page on which a person pays an open payment. The payment's id is the idempotency key, so a repeated call
 * gives the same page, even if the first response was lost.
 * @returns the URL of the page; null if the payment needs no page any more
 * @throws StripeError, which {@link refusalOf} classifies as permanent or not
 */
export async function createCheckout(ctx: Ctx, paymentId: string): Promise<string | null> {
  const payment = await readPayment(ctx, paymentId);
  if (payment.state !== 'open') return null;
  if (payment.checkout_url) return payment.checkout_url;
  const stripe = stripeOf(ctx);
  const session = await stripe.checkout.sessions.create(checkoutOf(ctx.config, payment), {
    idempotencyKey: payment.id,
  });
  const stored = await singleStatement(ctx)
    .table('payments')
    .where({ id: payment.id, state: 'open' })
    .update({ provider_session_id: session.id, checkout_url: session.url, updated_at: ctx.clock.now() });
  if (stored > 0) return session.url;
  // Closes the page again, because the payment was cancelled while the page was created.
  await closeSession(stripe, session.id);
  return null;
}

/**
 * Closes the page of a payment, so that it cannot be paid any more.
 * @returns the state of the payment: `expired`, or `open` if it was just paid and the provider has not yet reported it
 */
export async function expireCheckout(ctx: Ctx, paymentId: string): Promise<PaymentRow['state']> {
  const payment = await readPayment(ctx, paymentId);
  if (payment.state !== 'open') return payment.state;
  if (payment.provider_session_id && !(await closeSession(stripeOf(ctx), payment.provider_session_id))) return 'open';
  const expired = await transact(ctx, (tx) => movePayment(tx, paymentId, ['open'], 'expired', { reason: 'closed' }));
  return expired?.state ?? (await readPayment(ctx, paymentId)).state;
}

/** Reads a payment. @throws AppError not_found */
export async function readPayment(ctx: Ctx, paymentId: string): Promise<PaymentRow> {
  const payment = await reader(ctx).table('payments').where({ id: paymentId }).first();
  if (!payment) throw notFound('payment');
  return payment;
}

/** Closes a checkout page. Returns true if the page no longer accepts a payment. */
async function closeSession(stripe: Stripe, sessionId: string): Promise<boolean> {
  try {
    await stripe.checkout.sessions.expire(sessionId);
    return true;
  } catch (error) {
    if (!refusalOf(error)) throw error;
    // Reads the page to find out why it could not be closed: it was paid or has expired. Throws the error for a page
    // that is still open.
    const { status } = await stripe.checkout.sessions.retrieve(sessionId);
    if (status === 'open') throw error;
    return status === 'expired';
  }
}

/**
 * Builds the checkout request. The body is the same on every attempt, as the provider requires for an idempotency key.
 */
function checkoutOf(
  config: Pick<Config, 'APP_URL'>,
  payment: PaymentRow,
): Stripe.Checkout.SessionCreateParams & { metadata: Record<string, string> } {
  const monthly = payment.line_items.some(({ interval }) => interval === 'month');
  const metadata = { payment_id: payment.id, organization_id: payment.organization_id };
  return {
    mode: monthly ? 'subscription' : 'payment',
    client_reference_id: payment.id,
    metadata,
    success_url: payment.return_url ?? config.APP_URL,
    cancel_url: payment.return_url ?? config.APP_URL,
    line_items: payment.line_items.map(({ label, quantity, unit_cents, interval }) => ({
      quantity,
      price_data: {
        currency: payment.currency,
        unit_amount: unit_cents,
        product_data: { name: render(label) },
        ...(interval === 'month' ? { recurring: { interval } } : {}),
      },
    })),
    // Saves the payment method for renewals. A subscription does this itself. Without one, the method is attached to a
    // new customer.
    ...(monthly
      ? { subscription_data: { metadata } }
      : { customer_creation: 'always', payment_intent_data: { metadata, setup_future_usage: 'off_session' } }),
  };
}

/** A customer's payment method that can be charged without a person present. */
interface SavedMethod {
  customerId: string;
  methodId: string;
}

/** Returns the payment method of a paid order; null if none was saved. */
export async function savedMethod(ctx: Ctx, paid: PaymentRow): Promise<SavedMethod | null> {
  const stripe = stripeOf(ctx);
  const customerId = paid.provider_customer_id;
  if (!customerId) return null;
  const subscription = paid.provider_subscription_id
    ? await stripe.subscriptions.retrieve(paid.provider_subscription_id)
    : undefined;
  const intent = paid.provider_payment_id ? await stripe.paymentIntents.retrieve(paid.provider_payment_id) : undefined;
  const ofOrder = idOf(subscription?.default_payment_method) ?? idOf(intent?.payment_method);
  if (ofOrder) return { customerId, methodId: ofOrder };
  const customer = await stripe.customers.retrieve(customerId);
  const ofCustomer = customer.deleted ? null : idOf(customer.invoice_settings.default_payment_method);
  return ofCustomer ? { customerId, methodId: ofCustomer } : null;
}

/** Result of a charge. `processing` means that the provider reports the result later by its webhook. */
export type ChargeResult =
  | { kind: 'paid'; paymentIntentId: string; receivedCents: number; currency: string }
  | { kind: 'processing' }
  | { kind: 'refused'; code: string };

/**
 * Charges an open payment to a saved method, without a person present. The idempotency key is derived from the
 * payment's id.
 * @throws StripeError when the same charge can be retried
 */
export async function chargeSaved(ctx: Ctx, payment: PaymentRow, method: SavedMethod): Promise<ChargeResult> {
  try {
    const intent = await stripeOf(ctx).paymentIntents.create(
      {
        amount: payment.amount_cents,
        currency: payment.currency,
        customer: method.customerId,
        payment_method: method.methodId,
        off_session: true,
        confirm: true,
        description: payment.line_items.map(({ label }) => render(label)).join(', '),
        metadata: { payment_id: payment.id, organization_id: payment.organization_id },
      },
      { idempotencyKey: `${payment.id}/charge` },
    );
    if (intent.status === 'succeeded')
      return {
        kind: 'paid',
        paymentIntentId: intent.id,
        receivedCents: intent.amount_received,
        currency: intent.currency,
      };
    if (intent.status === 'processing') return { kind: 'processing' };
    return { kind: 'refused', code: intent.status };
  } catch (error) {
    const refusal = refusalOf(error);
    if (!refusal) throw error;
    return { kind: 'refused', code: refusal.code };
  }
}
