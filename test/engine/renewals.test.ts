import test from 'ava';
import { chargeCycle } from '../../domain/billing/domain-renewals/charge.ts';
import { advanceRenewal } from '../../domain/billing/domain-renewals/advance.ts';
import { priceOf } from '../../domain/billing/domain-renewals/states.ts';
import { isBalanced, readBooks } from '../../domain/billing/mailbox-orders/books.ts';
import { mailboxProvider } from '../../domain/billing/mailbox-orders/http-provider.ts';
import { advanceRefund } from '../../domain/billing/payments/refund.ts';
import { reconcile } from '../../domain/operations/system/reconcile.ts';
import { DAY_MS, HOUR_MS } from '../../lib/clock.ts';
import { newId } from '../../lib/ids.ts';
import { startProvisioning, type ProvisioningSandbox } from '../../local/provisioning.ts';
import { startEngine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { createOrderToPay, createPaymentWorld, type PaymentWorld } from '../harness/payments.ts';
import { assertStatus, call } from '../harness/world.ts';

/** Price of another year in the sandbox, and the amount that Heron charges for it. */
const COST = 1_400;
const AMOUNT = 1_471;

let paying: PaymentWorld;
let sandbox: ProvisioningSandbox;
let clock: ManualClock;
test.before(async () => {
  clock = new ManualClock();
  sandbox = await startProvisioning({ now: () => clock.now() });
  paying = await createPaymentWorld({ clock, env: { ...sandbox.env, WORKER_ROLES: 'temporal,relay' } });
});
test.afterEach('every cent is in one place of the books', async (t) => {
  for (const books of await readBooks(paying.world.deps.db)) t.true(isBalanced(books), JSON.stringify(books));
});
test.after.always(async () => {
  await paying?.close();
  await sandbox?.close();
});
test.beforeEach(() => {
  clock.set(new Date());
  Object.assign(paying.stripe, { chargeMode: 'succeed', refundMode: 'succeed', failNext: 0, hold: false });
});

/** Creates a domain of an order in use, a month before its registration ends. */
async function managedDomain() {
  const { world, stripe } = paying;
  const { db } = world.deps;
  const desk = await createOrderToPay(paying);
  const { organizationId, apiKey } = desk.tenant;
  const ctx = world.system(organizationId);
  await stripe.pay(await desk.checkout());
  await db('mailbox_orders').where({ id: desk.orderId }).update({ state: 'ready', ready_at: clock.now() });
  const [domain, id] = [`${desk.orderId}.test`, newId()];
  const registered = await mailboxProvider(ctx).registerDomain(`${desk.orderId}/domain:0`, domain);
  await db('managed_domains').insert({
    id,
    organization_id: organizationId,
    domain,
    order_id: desk.orderId,
    provider_ref: registered.ref,
    state: 'active',
    registered_at: registered.registeredAt,
    expires_at: registered.expiresAt,
  });
  clock.set(new Date(registered.expiresAt.getTime() - 30 * DAY_MS + HOUR_MS));
  const renewals = () =>
    sandbox.effects.filter(({ operation, about }) => operation === 'domains/renew' && about === domain);
  return {
    ...desk,
    ctx,
    id,
    domain,
    expiresAt: registered.expiresAt,
    renewed: () => renewals().length,
    books: await differences(),
    turn: () => advanceRenewal(ctx, id),
    row: () => db('managed_domains').where({ id }).first(),
    cycle: () => db('domain_renewals').where({ domain_id: id }).orderBy('expires_at', 'desc').first(),
    payments: () => db('payments').where({ organization_id: organizationId, subject: 'renewal' }).orderBy('id'),
    letters: () => db('dead_letters').where({ task_id: id, status: 'pending' }),
    async listed() {
      const { body, status } = await call(world, 'GET', '/v1/mailboxes/domains/renewals', { token: apiKey });
      if (status !== 200) throw new Error(JSON.stringify(body));
      return body.data[0];
    },
    async replay() {
      const [letter] = await db('dead_letters').where({ task_id: id, status: 'pending' });
      return call(world, 'POST', `/v1/tasks/dlq/${letter.id}/replay`, { token: apiKey });
    },
  };
}

/** Stores the current totals of the books. Returns a function that returns the changes since then. */
async function differences(): Promise<() => Promise<Record<string, number>>> {
  const places = async (): Promise<Record<string, number>> => {
    const [books] = await readBooks(paying.world.deps.db);
    const { taken, renewed, refunds, needsPerson, underWay } = books!;
    return { taken, renewed, refunds, needsPerson, underWay };
  };
  const before = await places();
  return async () =>
    Object.fromEntries(
      Object.entries(await places()).flatMap(([place, cents]) =>
        cents === before[place] ? [] : [[place, cents - before[place]!]],
      ),
    );
}

test.serial(
  'a domain is charged and renewed by itself a month before it ends, at the price of that day plus processing',
  async (t) => {
    const desk = await managedDomain();
    clock.advance(-2 * HOUR_MS);
    const renewAt = desk.expiresAt.getTime() - 30 * DAY_MS;
    t.like(await desk.turn(), { kind: 'wait', state: 'scheduled', until: renewAt });
    t.like(await desk.listed(), {
      domain_id: desk.id,
      domain: desk.domain,
      provisioning_id: desk.orderId,
      state: 'scheduled',
      renews_at: new Date(renewAt).toISOString(),
      amount_cents: null,
      requires_action: false,
    });
    clock.set(new Date(renewAt));
    t.deepEqual(await desk.turn(), { kind: 'renewed' });
    t.is(desk.renewed(), 1);
    t.deepEqual(priceOf(COST, paying.world.deps.config), { processingCents: AMOUNT - COST, amountCents: AMOUNT });
    const [payment, ...more] = await desk.payments();
    t.deepEqual(more, []);
    t.like(payment, { state: 'paid', amount_cents: AMOUNT, received_cents: AMOUNT, currency: 'usd' });
    t.deepEqual(await desk.books(), { taken: AMOUNT, renewed: AMOUNT });
    t.true((await desk.row()).expires_at > desk.expiresAt);
    // The next renewal is scheduled.
    t.like(await desk.turn(), { kind: 'wait', state: 'scheduled' });
    const next = await desk.listed();
    t.like(next, { state: 'scheduled', last_renewed_at: clock.now().toISOString(), charged_at: null, error: null });
    t.is(Date.parse(next.expires_at), (await desk.row()).expires_at.getTime());
  },
);

test.serial(
  'a card that is declined needs a person, who pays at a link; when it has expired there is another',
  async (t) => {
    const { stripe } = paying;
    const desk = await managedDomain();
    stripe.chargeMode = 'decline';
    t.like(await desk.turn(), { kind: 'wait', state: 'requires_action' });
    const first = await desk.listed();
    t.like(first, { state: 'requires_action', requires_action: true, amount_cents: AMOUNT });
    t.like(first.error, { code: 'renewal_payment_required' });
    t.regex(first.error.message, /card_declined/);
    t.is((await desk.letters()).length, 1);
    await stripe.expire(first.checkout_url.split('/').at(-1));
    t.is((await desk.listed()).checkout_url, null);
    await desk.turn();
    const { checkout_url: link } = await desk.listed();
    t.not(link, first.checkout_url);
    await stripe.pay(link.split('/').at(-1));
    t.is((await desk.cycle()).state, 'renewing');
    t.deepEqual(await desk.turn(), { kind: 'renewed' });
    t.is(desk.renewed(), 1);
    t.deepEqual(
      (await desk.payments()).map(({ state }: { state: string }) => state),
      ['failed', 'expired', 'paid'],
    );
    t.is((await desk.letters()).length, 0);
  },
);

test.serial('a charge that takes its time is confirmed or refused by the provider', async (t) => {
  const { stripe } = paying;
  const desk = await managedDomain();
  stripe.chargeMode = 'processing';
  t.like(await desk.turn(), { kind: 'wait', state: 'charging', where: 'the payment is under way' });
  await stripe.settleCharge((await desk.cycle()).payment_id, false);
  t.like(await desk.turn(), { kind: 'wait', state: 'requires_action' });
  const other = await managedDomain();
  await other.turn();
  await stripe.settleCharge((await other.cycle()).payment_id, true);
  t.deepEqual(await other.turn(), { kind: 'renewed' });
  t.is(other.renewed(), 1);
});

test.serial('the word of the webhook and that of the charge are one payment, whichever is first', async (t) => {
  const { stripe } = paying;
  const desk = await managedDomain();
  stripe.hold = true;
  t.deepEqual(await desk.turn(), { kind: 'renewed' });
  const late = stripe.held.filter(({ type }) => type === 'payment_intent.succeeded');
  t.deepEqual(
    await stripe.deliver(...late, ...late),
    [...late, ...late].map(() => 200),
  );
  t.is((await desk.payments()).length, 1);
  t.is((await desk.payments())[0].state, 'paid');
});

test.serial(
  'answers of the provider that are lost renew once; days without one need a person, and it goes on',
  async (t) => {
    const desk = await managedDomain();
    sandbox.behave({ does: 'lost', operation: 'domains/renew' }, { does: 'half', operation: 'domains/renew' });
    t.like(await desk.turn(), { kind: 'wait', state: 'renewing' });
    t.deepEqual(await desk.books(), { taken: AMOUNT, underWay: AMOUNT });
    clock.advance(4 * DAY_MS);
    t.like(await desk.turn(), { kind: 'wait', state: 'requires_action' });
    t.like((await desk.listed()).error, { code: 'renewal_failed' });
    t.deepEqual(await desk.books(), { taken: AMOUNT, needsPerson: AMOUNT });
    t.deepEqual(await desk.turn(), { kind: 'renewed' });
    t.is(desk.renewed(), 1);
    t.is((await desk.payments()).length, 1);
    t.is((await desk.letters()).length, 0);
  },
);

test.serial(
  'a provider that tells no price for days needs a person; when it does, the domain is renewed',
  async (t) => {
    const desk = await managedDomain();
    sandbox.behave({ does: 'fail', operation: 'domains/check', times: 2 });
    t.like(await desk.turn(), { kind: 'wait', state: 'scheduled', where: 'the provider does not answer' });
    clock.advance(4 * DAY_MS);
    t.like(await desk.turn(), { kind: 'wait', state: 'requires_action' });
    t.like((await desk.listed()).error, { code: 'renewal_request_failed' });
    t.deepEqual(await desk.payments(), []);
    t.deepEqual(await desk.turn(), { kind: 'renewed' });
  },
);

test.serial(
  'a renewal that the provider refuses is given back and needs a person; replayed it is charged anew',
  async (t) => {
    const desk = await managedDomain();
    sandbox.behave({ does: 'refuse', operation: 'domains/renew', code: 'registry_locked' });
    t.like(await desk.turn(), { kind: 'wait', state: 'requires_action' });
    t.like((await desk.listed()).error, { code: 'renewal_refused' });
    const [first] = await desk.payments();
    t.is(first.state, 'refund_due');
    t.deepEqual(await desk.books(), { taken: AMOUNT, refunds: AMOUNT });
    t.deepEqual(await advanceRefund(desk.ctx, { paymentId: first.id }), { kind: 'done', why: 'refunded' });
    // The renewal does not retry automatically, because every attempt would charge and refund.
    clock.advance(DAY_MS);
    t.like(await desk.turn(), { kind: 'wait', state: 'requires_action' });
    t.is((await desk.payments()).length, 1);
    assertStatus(t, await desk.replay(), 200);
    t.deepEqual(await desk.turn(), { kind: 'renewed' });
    t.deepEqual(
      (await desk.payments()).map(({ state }: { state: string }) => state),
      ['refunded', 'paid'],
    );
    t.is(desk.renewed(), 1);
  },
);

test.serial('a charge that the bank makes after the domain was given back is refunded', async (t) => {
  const { stripe, world } = paying;
  const { db } = world.deps;
  const desk = await managedDomain();
  stripe.failNext = 10;
  t.like(await desk.turn(), { kind: 'wait', state: 'charging' });
  stripe.failNext = 0;
  const cycle = { domain: await desk.row(), renewal: await desk.cycle() };
  const egress = Object.create(desk.ctx.egress) as typeof desk.ctx.egress;
  egress.request = async (request) => {
    if (String(request.url).includes('/payment_intents')) {
      await db('managed_domains').where({ id: desk.id }).update({ state: 'released' });
      t.deepEqual(await desk.turn(), { kind: 'done', outcome: 'released' });
      t.is((await desk.payments())[0].state, 'expired', 'nobody waits for this payment any more');
    }
    return desk.ctx.egress.request(request);
  };
  await chargeCycle({ ...desk.ctx, egress }, cycle);
  t.like((await desk.payments())[0], { state: 'refund_due', refund_reason: 'paid_too_late' });
  t.deepEqual(await desk.books(), { taken: AMOUNT, refunds: AMOUNT });
});

test.serial('a domain whose order is not paid for is not renewed, until it is', async (t) => {
  const { stripe } = paying;
  const desk = await managedDomain();
  const { provider_subscription_id: subscription } = await desk.payment();
  await stripe.chargeMonth(subscription!, false);
  t.like(await desk.turn(), { kind: 'wait', state: 'requires_action' });
  t.like((await desk.listed()).error, { code: 'renewal_not_eligible' });
  await stripe.chargeMonth(subscription!, true);
  t.deepEqual(await desk.turn(), { kind: 'renewed' });
});

test.serial(
  'a domain that no person pays for lapses with its registration, is gone a month later, and money that comes then goes back',
  async (t) => {
    const { stripe, world } = paying;
    const desk = await managedDomain();
    stripe.chargeMode = 'decline';
    await desk.turn();
    const { checkout_url: link } = await desk.listed();
    stripe.hold = true;
    clock.set(desk.expiresAt);
    t.like(await desk.turn(), { kind: 'wait', state: 'requires_action' });
    t.like(await desk.row(), { state: 'lapsed' });
    t.like(await desk.listed(), { state: 'lapsed', requires_action: true, checkout_url: link });
    clock.set(new Date(desk.expiresAt.getTime() + 30 * DAY_MS));
    t.deepEqual(await desk.turn(), { kind: 'done', outcome: 'lapsed' });
    await t.throwsAsync(stripe.pay(link.split('/').at(-1)), { message: /expired/ });
    t.like(await desk.row(), { state: 'lapsed' });
    t.like(await desk.listed(), { state: 'lapsed', requires_action: false, checkout_url: null });
    t.is(desk.renewed(), 0);
    // The provider reports a late payment for the last payment page.
    const last = (await desk.payments()).at(-1);
    const payload = JSON.stringify({
      id: `evt_${newId()}`,
      object: 'event',
      created: 1,
      type: 'payment_intent.succeeded',
      data: {
        object: { id: `pi_${newId()}`, amount_received: AMOUNT, currency: 'usd', metadata: { payment_id: last.id } },
      },
    });
    t.deepEqual(await stripe.deliver(JSON.parse(payload)), [200]);
    const paid = await world.deps.db('payments').where({ id: last.id }).first();
    t.like(paid, { state: 'refund_due', refund_reason: 'paid_too_late' });
  },
);

test.serial(
  'the run of a domain sleeps, is found when it is lost, and ends when the domain is given back',
  async (t) => {
    const { db } = paying.world.deps;
    const desk = await managedDomain();
    await db('managed_domains').whereNot({ id: desk.id }).update({ state: 'released' });
    clock.set(new Date());
    const engine = await startEngine(paying.world);
    t.teardown(() => engine.stop());
    const found = (await reconcile(paying.world.deps)).find(({ family }) => family === 'domain-renewal');
    t.like(found, { checked: 1, missing: 1 });
    const handle = engine.temporal.workflow.getHandle(`domain-renewal/${desk.id}`);
    await eventually(async () => (await desk.cycle())?.state === 'scheduled');
    await eventually(async () => (await handle.describe()).searchAttributes.State?.[0] === 'scheduled');
    await db('managed_domains').where({ id: desk.id }).update({ state: 'released' });
    await handle.signal('changed', { cause: 'released' });
    t.is(await handle.result(), 'released');
    t.is((await desk.cycle()).state, 'ended');
  },
);
