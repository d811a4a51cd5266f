import type Stripe from 'stripe';
import test from 'ava';
import { requestRefund } from '../../domain/billing/payments/request-refund.ts';
import { advanceRefund } from '../../domain/billing/payments/refund.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { reconcile } from '../../domain/operations/system/reconcile.ts';
import { DAY_MS } from '../../lib/clock.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { createOrderToPay, createPaymentWorld, type PaymentDesk, type PaymentWorld } from '../harness/payments.ts';
import { call } from '../harness/world.ts';
import { render } from '../../messages/render.ts';

let paying: PaymentWorld;
let engine: Engine;
test.before(async () => {
  paying = await createPaymentWorld({ env: { WORKER_ROLES: 'temporal,relay', RUN_BLOCK_AFTER_MS: '500' } });
  engine = await startEngine(paying.world);
});
test.after.always(async () => {
  await engine?.stop();
  await paying?.close();
});
test.beforeEach(() => {
  Object.assign(paying.stripe, { refundMode: 'succeed', failNext: 0, loseNext: 0, hold: false });
});

/** Creates a paid order whose payment must be refunded. */
async function refundDue(): Promise<PaymentDesk & { workflowId: string }> {
  const desk = await createOrderToPay(paying);
  await paying.stripe.pay(await desk.checkout());
  await request(desk);
  return { ...desk, workflowId: `order-refund/${desk.paymentId}` };
}

function request(desk: PaymentDesk): Promise<boolean> {
  return transact(paying.world.system(desk.tenant.organizationId), (tx) =>
    requestRefund(tx, desk.paymentId, 'order_cancelled'),
  );
}

/**
 * Timeout (ms): on a busy machine, the workflow queries a provider without an answer again only after half a minute.
 */
const PATIENCE_MS = 90_000;

const inState = (desk: PaymentDesk, state: string) =>
  eventually(async () => {
    const payment = await desk.payment();
    return payment.state === state && payment;
  }, PATIENCE_MS);

/** Returns the sum (cents) and the number of a payment's refunds at the provider. */
async function givenBack(desk: PaymentDesk) {
  const id = desk.paymentId;
  const made = paying.stripe.refunds.filter(
    ({ metadata, status }) => metadata?.payment_id === id && status === 'succeeded',
  );
  return { cents: made.reduce((sum, { amount }) => sum + amount, 0), parts: made.length };
}

test.serial(
  'a refund gives all of the money back once and ends the subscription, however often it is asked for',
  async (t) => {
    const desk = await refundDue();
    t.false(await request(desk), 'it is under way');
    const { provider_subscription_id: subscription, refunded_at: at } = await inState(desk, 'refunded');
    t.truthy(at);
    t.deepEqual(await givenBack(desk), { cents: 1_900, parts: 1 });
    t.true(paying.stripe.requests.includes(`DELETE /v1/subscriptions/${subscription}`));
    t.is(await engine.temporal.workflow.getHandle(desk.workflowId).result(), 'refunded');
    t.false(await request(desk), 'it is done');
    // The end of the subscription, which Heron requested, does not change the order.
    t.is(await desk.orderState(), 'paid');
  },
);

test.serial(
  'answers that are lost and a provider that fails are asked again, and nothing is given back twice',
  async (t) => {
    for (const fault of [{ failNext: 2 }, { loseNext: 2 }]) {
      const desk = await createOrderToPay(paying);
      await paying.stripe.pay(await desk.checkout());
      // The fault is set before the workflow starts, because the workflow queries the provider, too.
      Object.assign(paying.stripe, fault);
      await request(desk);
      const ctx = paying.world.system(desk.tenant.organizationId);
      let report = await advanceRefund(ctx, desk);
      t.is(report.kind, 'wait');
      for (let turn = 0; report.kind === 'wait' && turn < 5; turn += 1) report = await advanceRefund(ctx, desk);
      t.deepEqual(report, { kind: 'done', why: 'refunded' });
      t.deepEqual(await givenBack(desk), { cents: 1_900, parts: 1 });
    }
  },
);

test.serial(
  'turns at once, as when an attempt is given up and goes on all the same, give the money back once',
  async (t) => {
    const desk = await refundDue();
    const ctx = paying.world.system(desk.tenant.organizationId);
    const reports = await Promise.all([1, 2, 3].map(() => advanceRefund(ctx, desk)));
    t.deepEqual(
      reports,
      reports.map(() => ({ kind: 'done', why: 'refunded' })),
    );
    t.deepEqual(await givenBack(desk), { cents: 1_900, parts: 1 });
    t.is((await desk.payment()).state, 'refunded');
  },
);

test.serial('a refund that is under way is confirmed by the word of the provider', async (t) => {
  paying.stripe.refundMode = 'pending';
  const desk = await refundDue();
  const { provider_refund_id: refundId } = await eventually(async () => {
    const payment = await desk.payment();
    return payment.provider_refund_id !== null && payment;
  });
  t.is((await desk.payment()).state, 'refund_due');
  await paying.stripe.finishRefund(refundId!, 'succeeded');
  t.is((await desk.payment()).state, 'refunded');
  t.is(await engine.temporal.workflow.getHandle(desk.workflowId).result(), 'refunded');
  t.deepEqual(await givenBack(desk), { cents: 1_900, parts: 1 });
});

test.serial('a refusal needs a person, is listed and told; replayed it is asked anew and once', async (t) => {
  const { stripe, world } = paying;
  stripe.refundMode = 'refuse';
  const desk = await refundDue();
  const { error } = await inState(desk, 'needs_person');
  t.like(error, { code: 'refund_refused' });
  t.regex(render(error!.fix), /dashboard/);
  const { body } = await call(world, 'GET', '/v1/tasks/dlq?status=pending', { token: desk.tenant.apiKey });
  t.is(body.data.length, 1);
  t.like(body.data[0], { task_type: 'order_refund', task_id: desk.paymentId, next_retry_at: null });
  const told = await world.deps
    .db('domain_events')
    .where({ type: 'payment.state_changed' })
    .orderBy('id', 'desc')
    .first();
  t.like(told.data, { payment_id: desk.paymentId, state: 'needs_person', reason: 'refund_refused' });

  stripe.refundMode = 'succeed';
  const replay = () => call(world, 'POST', `/v1/tasks/dlq/${body.data[0].id}/replay`, { token: desk.tenant.apiKey });
  const answers = await Promise.all([replay(), replay()]);
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
  await inState(desk, 'refunded');
  t.deepEqual(await givenBack(desk), { cents: 1_900, parts: 1 });
});

test.serial('money that a person gave back at the provider is seen, and the task is settled', async (t) => {
  const { stripe, world } = paying;
  stripe.refundMode = 'refuse';
  const desk = await refundDue();
  await inState(desk, 'needs_person');
  stripe.refundMode = 'succeed';
  const { balance } = stripe;
  await stripe.refundByHand(desk.paymentId);
  t.is((await desk.payment()).state, 'refunded');
  t.is((await world.deps.db('dead_letters').where({ task_id: desk.paymentId, status: 'pending' })).length, 0);
  // Requesting the refund again has no effect.
  t.deepEqual(await advanceRefund(world.system(desk.tenant.organizationId), desk), { kind: 'done', why: 'refunded' });
  t.is(stripe.balance, balance - 1_900);
});

test.serial('a refund that fails at the bank, even after it was done, needs a person', async (t) => {
  const desk = await refundDue();
  const { provider_refund_id: refundId } = await inState(desk, 'refunded');
  const [made] = paying.stripe.refunds.filter(({ id }) => id === refundId).map((refund) => ({ ...refund }));
  await paying.stripe.finishRefund(refundId!, 'failed');
  t.like(await desk.payment(), { state: 'needs_person' });
  // The provider delivers the event of the refund's creation again, after the event of its failure.
  const late = { id: `evt_late_${refundId}`, object: 'event', type: 'refund.updated', data: { object: made } };
  await paying.stripe.deliver(late as unknown as Stripe.Event);
  t.like(await desk.payment(), { state: 'needs_person' });
  const [letter] = await paying.world.deps.db('dead_letters').where({ task_id: desk.paymentId, status: 'pending' });
  await call(paying.world, 'POST', `/v1/tasks/dlq/${letter.id}/replay`, { token: desk.tenant.apiKey });
  await inState(desk, 'refunded');
  t.deepEqual(await givenBack(desk), { cents: 1_900, parts: 1 });
  t.is((await desk.payment()).refund_round, 2);
});

test.serial('a refund that is not done in its time needs a person', async (t) => {
  paying.stripe.refundMode = 'pending';
  const desk = await createOrderToPay(paying);
  await paying.stripe.pay(await desk.checkout());
  await request(desk);
  const { db } = paying.world.deps;
  await db('payments')
    .where({ id: desk.paymentId })
    .update({ refund_until: new Date(Date.now() - DAY_MS) });
  const report = await advanceRefund(paying.world.system(desk.tenant.organizationId), desk);
  t.deepEqual(report, { kind: 'done', why: 'needs_person' });
  t.like(await desk.payment(), { state: 'needs_person', error: { code: 'refund_late' } });
  // An event of the provider is still processed.
  await paying.stripe.finishRefund((await desk.payment()).provider_refund_id!, 'succeeded');
  t.is((await desk.payment()).state, 'refunded');
});

test.serial('a run that is lost is found and started again', async (t) => {
  paying.stripe.refundMode = 'pending';
  const desk = await refundDue();
  const handle = engine.temporal.workflow.getHandle(desk.workflowId);
  await eventually(async () => (await desk.payment()).provider_refund_id !== null);
  await handle.terminate('lost');
  const found = await eventually(async () => {
    const families = await reconcile(paying.world.deps);
    const family = families.find((each) => each.family === 'order-refund');
    return family!.missing > 0 && family;
  });
  t.is(found.missing, 1);
  await eventually(async () => (await handle.describe()).status.name === 'RUNNING');
  await paying.stripe.finishRefund((await desk.payment()).provider_refund_id!, 'succeeded');
  t.is(await handle.result(), 'refunded');
});

test.serial('a run that keeps failing is shown as blocked and goes on when it is retried', async (t) => {
  const { db } = paying.world.deps;
  const desk = await createOrderToPay(paying);
  await paying.stripe.pay(await desk.checkout());
  await db.raw(
    `create function no_refunds() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$`,
  );
  await db.raw(
    `create trigger no_refunds before update on payments for each row when (new.state = 'refunded') execute function no_refunds()`,
  );
  await request(desk);
  const { blocked_reason: reason } = await eventually(async () => {
    const payment = await desk.payment();
    return payment.blocked_reason !== null && payment;
  });
  t.is(reason!.code, 'run.kept_failing');
  await db.raw('drop trigger no_refunds on payments');
  const [letter] = await db('dead_letters').where({ task_id: desk.paymentId, status: 'pending' });
  await call(paying.world, 'POST', `/v1/tasks/dlq/${letter.id}/replay`, { token: desk.tenant.apiKey });
  t.is((await inState(desk, 'refunded')).blocked_reason, null);
  t.deepEqual(await givenBack(desk), { cents: 1_900, parts: 1 });
});
