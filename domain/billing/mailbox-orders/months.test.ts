import test, { type ExecutionContext } from 'ava';
import { createCampaign } from '../../../test/harness/factories.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import {
  createOrderWorld,
  freshDomain,
  openOrderDesk,
  type OrderDesk,
  type OrderWorld,
} from '../../../test/harness/mailbox-orders.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { advanceRenewal } from '../domain-renewals/advance.ts';
import { clearHold, holdMailbox } from '../../sending/control/mailbox-hold.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { advanceRefund } from '../payments/refund.ts';
import { isBalanced, readBooks } from './books.ts';
import { cancelOrder } from './end.ts';
import { externalText } from '../../platform/external-text.ts';

let orders: OrderWorld;
const clock = new ManualClock();
test.before(async () => {
  orders = await createOrderWorld({ clock });
});
test.after.always(() => orders?.close());
test.beforeEach(async () => {
  clock.set(new Date());
  Object.assign(orders.stripe, { chargeMode: 'succeed', refundMode: 'succeed' });
  await orders.world.deps.db.raw('truncate organizations cascade');
});

/** Sends a read request with an API key, because a session would expire when the clock advances. */
async function read(desk: OrderDesk, path: string): Promise<Record<string, any>> {
  const { status, body, text } = await desk.call('GET', path, undefined, desk.tenant.apiKey);
  if (status !== 200) throw new Error(text);
  return body;
}

/** Creates a ready order of two mailboxes, with helpers to read and change its months. */
async function readyOrder(desk: OrderDesk, body?: Record<string, unknown>) {
  const { db } = orders.world.deps;
  const id = await desk.place(body ?? {});
  await desk.pay(id);
  await desk.drive(id);
  const first = await db('payments').where({ subject: 'order', subject_id: id }).first();
  const subscription: string = first.provider_subscription_id;
  return {
    id,
    subscription,
    month: (paid: boolean, invoice?: string) => orders.stripe.chargeMonth(subscription, paid, invoice),
    /** Returns state and reason of every payment, oldest first. */
    payments: async () =>
      (await db('payments').where({ subject_id: id }).orderBy('id')).map(
        ({ subject, state, refund_reason: reason }: Record<string, string>) =>
          [subject, state, ...(reason ? [reason] : [])].join(' '),
      ),
    async refund() {
      for (const paymentId of await db('payments').where({ subject_id: id, state: 'refund_due' }).pluck('id'))
        await advanceRefund(desk.ctx, { paymentId });
    },
    mailboxes: (): Promise<string[]> =>
      db('order_mailboxes').where({ order_id: id }).orderBy('position').pluck('mailbox_id'),
    async holds() {
      const ids = await db('order_mailboxes').where({ order_id: id }).orderBy('position').pluck('mailbox_id');
      const answers = await Promise.all(ids.map((one: string) => read(desk, `/emails/${one}`)));
      return answers.map(({ hold }) => hold?.code ?? null);
    },
    isSubscribed: () => !orders.stripe.requests.includes(`DELETE /v1/subscriptions/${subscription}`),
  };
}

/** Asserts that Heron's accounts balance and equal Stripe's balance. */
async function assertBooks(t: ExecutionContext, expected: Record<string, number>): Promise<void> {
  const [books] = await readBooks(orders.world.deps.db);
  t.true(isBalanced(books!), JSON.stringify(books));
  t.like(books, expected);
}

test.serial(
  'an unpaid month holds the mailboxes, tells campaigns, says what to do, and is released when it is paid',
  async (t) => {
    const desk = await openOrderDesk(orders);
    const { db } = orders.world.deps;
    const order = await readyOrder(desk);
    const [mailbox] = await order.mailboxes();
    const { campaignId } = await createCampaign(orders.world.deps, desk.tenant.organizationId, [{ subject: 'Hello' }]);
    await db('campaign_senders').insert({
      organization_id: desk.tenant.organizationId,
      campaign_id: campaignId,
      mailbox_id: mailbox,
    });
    const said = async () =>
      (await db('campaign_logs').where({ campaign_id: campaignId }).orderBy('id')).map(
        ({ event_type: type }: { event_type: string }) => type,
      );

    clock.advance(31 * DAY_MS);
    const invoice = await order.month(false);
    t.deepEqual(await order.holds(), ['order_unpaid', 'order_unpaid']);
    const body = await read(desk, `/emails/${mailbox}`);
    t.like(body, { status: 'active', hold: { code: 'order_unpaid', until: null } });
    t.regex(body.hold.fix, /Pay the open invoice/);
    t.like(body.recent_errors[0], { error_code: 'order_unpaid', resolved_at: null });
    const shown = await read(desk, `/mailbox-provisioning/${order.id}`);
    t.like(shown, { status: 'ready', error: { code: 'payment_failed' } });
    t.regex(shown.error.fix, /Pay the invoice/);
    t.deepEqual(await said(), ['sender_held']);

    // The hold is ended neither by a person nor by another refusal. A hold because of failed reading may exist at the
    // same time.
    await desk.call('PATCH', `/emails/${mailbox}`, { status: 'active' });
    await transact(desk.ctx, (tx) =>
      holdMailbox(tx, mailbox!, { code: 'server_refused', reason: externalText('busy'), until: clock.now() }),
    );
    await transact(desk.ctx, (tx) =>
      holdMailbox(tx, mailbox!, { code: 'imap_auth_failed', reason: externalText('no'), until: clock.now() }),
    );
    t.like((await read(desk, `/emails/${mailbox}`)).hold, { code: 'order_unpaid' });
    t.true(await transact(desk.ctx, (tx) => clearHold(tx, mailbox!)));
    t.like(await db('mailboxes').where({ id: mailbox }).first(), { hold_code: 'order_unpaid', imap_hold_code: null });
    t.deepEqual(await order.holds(), ['order_unpaid', 'order_unpaid']);

    await order.month(true, invoice);
    t.deepEqual(await order.holds(), [null, null]);
    t.falsy((await read(desk, `/mailbox-provisioning/${order.id}`)).error);
    t.is((await said()).at(-1), 'sender_back');
    t.is((await db('mailbox_errors').where({ mailbox_id: mailbox }).whereNull('resolved_at')).length, 0);
    // The report of the failed payment arrives late, and repeatedly.
    await order.month(false, invoice);
    t.deepEqual(await order.holds(), [null, null]);
  },
);

test.serial(
  'cancelled in a later month: that month goes back, the months that were delivered do not, and the books say so',
  async (t) => {
    const before = orders.stripe.balance;
    const desk = await openOrderDesk(orders);
    const order = await readyOrder(desk);
    const row = await desk.row(order.id);
    const [firstCents, monthCents] = [row.total_due_today_cents, row.total_monthly_cents];
    for (let month = 0; month < 2; month += 1) {
      clock.advance(30 * DAY_MS);
      await order.month(true);
    }
    t.deepEqual(await order.payments(), ['order paid', 'order_month paid', 'order_month paid']);
    await assertBooks(t, { taken: firstCents + 2 * monthCents, ready: firstCents + 2 * monthCents, refunds: 0 });
    clock.advance(5 * DAY_MS);
    await cancelOrder(desk.ctx, order.id);
    t.deepEqual(await order.payments(), ['order paid', 'order_month paid', 'order_month refund_due order_cancelled']);
    await desk.drive(order.id);
    await order.refund();
    t.deepEqual(await order.payments(), ['order paid', 'order_month paid', 'order_month refunded order_cancelled']);
    t.false(order.isSubscribed());
    t.is(orders.stripe.balance - before, firstCents + monthCents);
    await assertBooks(t, { taken: firstCents + 2 * monthCents, ready: firstCents + monthCents, refunds: monthCents });
    // A month that is charged during the cancellation is refunded too, but only once.
    const invoice = await order.month(true);
    await order.month(true, invoice);
    t.is((await order.payments()).at(-1), 'order_month refund_due paid_too_late');
    t.is((await order.payments()).length, 4);
  },
);

test.serial(
  'cancelled while a month is unpaid: nothing goes back, and the subscription ends all the same',
  async (t) => {
    const desk = await openOrderDesk(orders);
    const order = await readyOrder(desk);
    clock.advance(32 * DAY_MS);
    await order.month(false);
    await cancelOrder(desk.ctx, order.id);
    t.like(await desk.drive(order.id), { kind: 'done', state: 'cancelled' });
    t.deepEqual(await order.payments(), ['order paid']);
    t.false(order.isSubscribed());
    t.false((await desk.row(order.id)).under_way);
  },
);

test.serial('an order that never became ready gives every payment back', async (t) => {
  const desk = await openOrderDesk(orders);
  const { db } = orders.world.deps;
  const id = await desk.place();
  await desk.pay(id);
  const { provider_subscription_id: subscription } = await db('payments').where({ subject_id: id }).first();
  clock.advance(30 * DAY_MS);
  await orders.stripe.chargeMonth(subscription, true);
  await assertBooks(t, { ready: 0, refunds: 0 });
  orders.sandbox.behave({ does: 'refuse', operation: 'mailboxes/create', key: id, code: 'no_capacity' });
  await desk.drive(id);
  t.deepEqual(await db('payments').where({ subject_id: id }).orderBy('id').pluck('state'), [
    'refund_due',
    'refund_due',
  ]);
  const [books] = await readBooks(db);
  t.is(books!.refunds, books!.taken);
});

test.serial(
  'money of a delivered month that a person gives back changes nothing; that of the month under way leaves the order unpaid',
  async (t) => {
    const desk = await openOrderDesk(orders);
    const order = await readyOrder(desk);
    const { payment_id: first } = await desk.row(order.id);
    const { db } = orders.world.deps;
    const { provider_invoice_id: invoice } = await db('payments').where({ id: first }).first();
    await db('payments')
      .where({ id: first })
      .update({ provider_payment_id: orders.stripe.intentOf(invoice) });
    clock.advance(30 * DAY_MS);
    await order.month(true);
    clock.advance(5 * DAY_MS);
    await orders.stripe.refundByHand(first);
    t.is((await order.payments())[0], 'order refunded');
    t.deepEqual(await order.holds(), [null, null]);
  },
);

test.serial(
  'a domain that lapses holds what lives on it; a month that begins then goes back; renewed, all send again',
  async (t) => {
    const desk = await openOrderDesk(orders);
    const { db } = orders.world.deps;
    const domain = freshDomain();
    const first = await readyOrder(desk, { domain });
    const second = await readyOrder(desk, { domain });
    const { id: domainId, expires_at: expiresAt } = await db('managed_domains').where({ domain }).first();
    orders.stripe.chargeMode = 'decline';
    clock.set(new Date(expiresAt.getTime() - DAY_MS));
    await advanceRenewal(desk.ctx, domainId);
    t.deepEqual(await first.holds(), [null, null]);
    clock.set(expiresAt);
    await advanceRenewal(desk.ctx, domainId);
    t.deepEqual([...(await first.holds()), ...(await second.holds())], Array(4).fill('domain_lapsed'));
    const body = await read(desk, `/emails/${(await first.mailboxes())[0]}`);
    t.regex(body.hold.fix, /checkout_url within 30 days/);

    // The order is unpaid as well. Paying the month does not end the hold for the lapsed domain.
    const invoice = await first.month(false);
    t.deepEqual(await first.holds(), ['order_unpaid', 'order_unpaid']);
    await first.month(true, invoice);
    t.deepEqual(await first.holds(), ['domain_lapsed', 'domain_lapsed']);
    t.is((await first.payments()).at(-1), 'order_month refund_due domain_lapsed');
    await second.month(false);

    const [listed] = (await read(desk, '/mailboxes/domains/renewals')).data;
    t.like(listed, { state: 'lapsed', requires_action: true, error: { code: 'renewal_payment_required' } });
    await orders.stripe.pay(listed.checkout_url.split('/').at(-1));
    t.deepEqual(await advanceRenewal(desk.ctx, domainId), { kind: 'renewed' });
    t.is((await db('managed_domains').where({ id: domainId }).first()).state, 'active');
    t.deepEqual(await first.holds(), [null, null]);
    t.deepEqual(await second.holds(), ['order_unpaid', 'order_unpaid'], 'that one is not paid yet');
  },
);

test.serial(
  'a domain that nobody renews in the month after its end: orders without another one end, the month under way goes back',
  async (t) => {
    const desk = await openOrderDesk(orders);
    const { db } = orders.world.deps;
    const gone = freshDomain();
    const alone = await readyOrder(desk, { domain: gone });
    const both = await readyOrder(desk, { domain: undefined, domains: [gone, freshDomain()] });
    const { id: domainId, expires_at: expiresAt } = await db('managed_domains').where({ domain: gone }).first();
    orders.stripe.chargeMode = 'decline';
    clock.set(expiresAt);
    await advanceRenewal(desk.ctx, domainId);
    t.deepEqual(await both.holds(), ['domain_lapsed', null]);
    clock.advance(29 * DAY_MS);
    await db('payments')
      .where({ subject_id: alone.id })
      .update({ period_end: new Date(expiresAt.getTime() + 31 * DAY_MS) });
    clock.set(new Date(expiresAt.getTime() + 30 * DAY_MS));
    t.deepEqual(await advanceRenewal(desk.ctx, domainId), { kind: 'done', outcome: 'lapsed' });
    t.like(await desk.row(alone.id), { state: 'failed', error: { code: 'domain_unavailable' } });
    t.deepEqual(await alone.payments(), ['order refund_due order_failed']);
    await desk.drive(alone.id);
    t.like(await desk.row(both.id), { state: 'ready' });
    t.deepEqual(await both.holds(), ['domain_lapsed', null]);
  },
);
