import { randomBytes } from 'node:crypto';
import test from 'ava';
import Stripe from 'stripe';
import { expireCheckout } from '../../../domain/billing/payments/checkout.ts';
import { createOrderToPay, createPaymentWorld, type PaymentWorld } from '../../../test/harness/payments.ts';
import { call, createWorld } from '../../../test/harness/world.ts';

let paying: PaymentWorld;
test.before(async () => {
  paying = await createPaymentWorld();
});
test.after.always(() => paying?.close());
test.afterEach.always(() => {
  paying.stripe.hold = false;
});

const PATH = '/payments/stripe/events';
const REFUND = (paymentId: string) => `start order-refund/${paymentId}`;

/** Returns an event in Stripe's format. By default it concerns an object that Heron does not know. */
function event(type: string, object: object = { id: 'obj_1' }): string {
  return JSON.stringify({
    id: `evt_${randomBytes(8).toString('hex')}`,
    object: 'event',
    created: Math.floor(Date.now() / 1000),
    type,
    data: { object },
  });
}

function send(payload: string, signing: { secret?: string; timestamp?: number; header?: string } = {}) {
  const { stripe, world } = paying;
  const signature =
    signing.header ??
    Stripe.webhooks.generateTestHeaderString({
      payload,
      secret: signing.secret ?? stripe.webhookSecret,
      ...(signing.timestamp ? { timestamp: signing.timestamp } : {}),
    });
  return call(world, 'POST', PATH, {
    body: payload,
    headers: { 'stripe-signature': signature, 'content-type': 'application/json; charset=utf-8' },
  });
}

test.serial('an event that Stripe did not sign, or signed long ago, is refused, and changes nothing', async (t) => {
  const desk = await createOrderToPay(paying);
  const paid = event('checkout.session.completed', {
    id: 'cs_1',
    client_reference_id: desk.paymentId,
    payment_status: 'paid',
    amount_total: 1_900,
    currency: 'usd',
  });
  const now = Math.floor(Date.now() / 1000);
  const right = Stripe.webhooks.generateTestHeaderString({ payload: paid, secret: paying.stripe.webhookSecret });
  for (const [what, answer] of [
    ['another secret', await send(paid, { secret: 'whsec_other' })],
    ['no header', await send(paid, { header: '' })],
    ['a header that says nothing', await send(paid, { header: 't=1,v1=' })],
    ['an old signature', await send(paid, { timestamp: now - 301 })],
    ['another body', await send(paid.replace('1900', '1'), { header: right })],
    ['white space added', await send(`${paid} `, { header: right })],
    ['no JSON', await send('paid')],
    ['JSON that is no event', await send('[]')],
    ['too much', await send('x'.repeat(600_000))],
  ] as const) {
    t.is(answer.status, 400, what);
    t.is(answer.body.code, 'bad_request', what);
  }
  t.is(await desk.orderState(), 'awaiting_payment');
  t.deepEqual(await desk.outcomes(), []);
  t.like(await send(paid, { timestamp: now - 290 }), { status: 200, body: { outcome: 'paid' } });
});

test.serial('an installation that takes no payments says so', async (t) => {
  const world = await createWorld();
  t.teardown(() => world.close());
  const { status, body } = await call(world, 'POST', PATH, { body: event('invoice.paid') });
  t.is(status, 503);
  t.is(body.code, 'mailbox_provisioning_unavailable');
});

test.serial('what means nothing here is answered 200 and ignored', async (t) => {
  const other = { client_reference_id: '3f0e1b9a-4f51-4b4c-9e57-2a7d3f9f2a11', payment_status: 'paid' };
  for (const payload of [
    event('customer.created'),
    event('payment_intent.succeeded', { id: 'pi_x', metadata: {}, amount_received: 5, currency: 'usd' }),
    event('checkout.session.completed', { id: 'cs_x', ...other }),
    event('checkout.session.completed', { id: 'cs_x', client_reference_id: "' or 1=1", payment_status: 'paid' }),
    event('checkout.session.expired', { id: 'cs_x' }),
    event('refund.updated', { id: 're_x', status: 'succeeded', payment_intent: 'pi_unknown' }),
    event('invoice.payment_failed', { id: 'in_x', billing_reason: 'manual', parent: null }),
  ])
    t.like(await send(payload), { status: 200, body: { received: true, outcome: 'unknown' } }, payload);
});

test.serial('a person pays: the order is paid, once, and the ids of the provider are kept', async (t) => {
  const desk = await createOrderToPay(paying);
  await paying.stripe.pay(await desk.checkout());
  t.is(await desk.orderState(), 'paid');
  const payment = await desk.payment();
  t.like(payment, { state: 'paid', received_cents: 1_900, received_currency: 'usd', error: null });
  for (const column of ['provider_session_id', 'provider_customer_id', 'provider_subscription_id'] as const)
    t.truthy(payment[column], column);
  t.deepEqual(await desk.outcomes(), ['paid']);
  t.false((await desk.intents()).includes(REFUND(desk.paymentId)));
});

test.serial('an event that comes twice is done once; of two at once one does it', async (t) => {
  const desk = await createOrderToPay(paying);
  paying.stripe.hold = true;
  await paying.stripe.pay(await desk.checkout());
  const [completed] = paying.stripe.held.slice(-1);
  const statuses = await Promise.all(Array.from({ length: 6 }, () => paying.stripe.deliver(completed!)));
  t.deepEqual(statuses.flat(), Array(6).fill(200));
  t.deepEqual(await desk.outcomes(), ['paid']);
  t.is(await desk.orderState(), 'paid');
  const moves = await paying.world.deps.db('domain_events').where({ type: 'payment.state_changed' });
  t.is(moves.filter(({ data }: { data: { payment_id: string } }) => data.payment_id === desk.paymentId).length, 1);
  // Another event about the same payment also changes nothing, such as an event about its payment intent.
  t.like(await send(event('checkout.session.async_payment_succeeded', completed!.data.object)), {
    body: { outcome: 'ignored' },
  });
  t.false((await desk.intents()).includes(REFUND(desk.paymentId)));
});

test.serial('money that comes when the order does not wait any more goes back', async (t) => {
  const desk = await createOrderToPay(paying);
  const session = await desk.checkout();
  await paying.world.deps.db('mailbox_orders').where({ id: desk.orderId }).update({ state: 'cancelled' });
  await paying.stripe.pay(session);
  t.is(await desk.orderState(), 'cancelled');
  t.like(await desk.payment(), { state: 'refund_due', refund_reason: 'paid_too_late', received_cents: 1_900 });
  t.true((await desk.intents()).includes(REFUND(desk.paymentId)));
});

test.serial('another amount, or another currency, is no payment of the order: all of it goes back', async (t) => {
  for (const how of [{ cents: 1_899 }, { cents: 1_901 }, { currency: 'huf' }]) {
    const desk = await createOrderToPay(paying);
    await paying.stripe.pay(await desk.checkout(), how);
    t.not(await desk.orderState(), 'paid');
    t.like(await desk.payment(), {
      state: 'refund_due',
      refund_reason: 'amount_differs',
      received_cents: how.cents ?? 1_900,
      received_currency: how.currency ?? 'usd',
    });
    t.true((await desk.intents()).includes(REFUND(desk.paymentId)));
  }
});

test.serial('events out of order: expired before paid, and paid before expired', async (t) => {
  const { stripe } = paying;
  const first = await createOrderToPay(paying);
  stripe.hold = true;
  const session = await first.checkout();
  await stripe.pay(session);
  const [completed] = stripe.held.slice(-1);
  stripe.hold = false;
  await send(event('checkout.session.expired', completed!.data.object));
  t.is((await first.payment()).state, 'expired');
  await stripe.deliver(completed!);
  // The effect of a payment depends on the order: an order that still waits becomes paid; for a failed order the money
  // is refunded.
  t.true(['paid', 'refund_due'].includes((await first.payment()).state));

  const second = await createOrderToPay(paying);
  const paid = await second.checkout();
  await stripe.pay(paid);
  await stripe.expire(paid);
  t.is((await second.payment()).state, 'paid');
  t.is(await second.orderState(), 'paid');
  t.deepEqual(await second.outcomes(), ['paid', 'ignored']);
});

test.serial('a page that is completed before the money is there waits for it', async (t) => {
  const came = await createOrderToPay(paying);
  const session = await came.checkout();
  await paying.stripe.pay(session, { later: true });
  t.is((await came.payment()).state, 'open');
  await paying.stripe.settle(session, true);
  t.is(await came.orderState(), 'paid');

  const failed = await createOrderToPay(paying);
  const other = await failed.checkout();
  await paying.stripe.pay(other, { later: true });
  await paying.stripe.settle(other, false);
  t.is((await failed.payment()).state, 'failed');
  t.deepEqual(await failed.outcomes(), ['ignored', 'failed']);
});

test.serial('the page has one address, whoever asks how often, also when the answer was lost', async (t) => {
  const { stripe } = paying;
  const desk = await createOrderToPay(paying);
  stripe.loseNext = 1;
  await t.throwsAsync(desk.checkout());
  const sessions = await Promise.all([desk.checkout(), desk.checkout()]);
  t.is(new Set(sessions).size, 1);
  t.is((await desk.payment()).checkout_url, stripe.sessionOf(desk.paymentId)!.url);
});

test.serial('a page that is closed cannot be paid; one that was just paid is not closed', async (t) => {
  const { stripe, world } = paying;
  const desk = await createOrderToPay(paying);
  const session = await desk.checkout();
  const ctx = world.system(desk.tenant.organizationId);
  t.is(await expireCheckout(ctx, desk.paymentId), 'expired');
  await t.throwsAsync(stripe.pay(session), { message: /expired/ });
  t.is(await expireCheckout(ctx, desk.paymentId), 'expired');

  const paid = await createOrderToPay(paying);
  const other = await paid.checkout();
  stripe.hold = true;
  await stripe.pay(other);
  t.is(await expireCheckout(ctx, desk.paymentId), 'expired');
  t.is(await expireCheckout(world.system(paid.tenant.organizationId), paid.paymentId), 'open');
  await stripe.deliver(...stripe.held);
  t.is(await expireCheckout(world.system(paid.tenant.organizationId), paid.paymentId), 'paid');

  const never = await createOrderToPay(paying);
  t.is(await expireCheckout(world.system(never.tenant.organizationId), never.paymentId), 'expired');
  t.is(await expireCheckout(world.system(never.tenant.organizationId), never.paymentId), 'expired');
});
