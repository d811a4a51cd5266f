import test from 'ava';
import {
  createOrderWorld,
  freshDomain,
  openOrderDesk,
  type OrderDesk,
  type OrderWorld,
} from '../../../test/harness/mailbox-orders.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { replayTask } from '../../operations/dead-letters/dead-letters.ts';
import { cancelOrder } from './end.ts';
import { advanceMailboxOrder } from './advance.ts';
import { orderMailboxes } from './order.ts';
import { recordOrderPaymentFailed } from './paid.ts';
import { performOrderStep } from './perform.ts';
import { undoOrderStep } from './undo.ts';
import { eventually } from '../../../test/harness/eventually.ts';

let orders: OrderWorld;
test.before(async () => {
  orders = await createOrderWorld({ env: { PROVISIONING_TIMEOUT_MS: '400', PROVISIONING_GIVE_UP_MS: '1500' } });
});
test.after.always(() => orders?.close());

const effectsOf = (orderId: string) => orders.sandbox.effects.filter(({ key }) => key.startsWith(orderId));
/** Lists the parts of an order that exist at the provider and cost money. */
async function leftOf(orderId: string): Promise<string[]> {
  await orders.sandbox.idle();
  const { db } = orders.world.deps;
  const emails: string[] = await db('order_mailboxes').where({ order_id: orderId }).pluck('email');
  const { domains } = await db('mailbox_orders').where({ id: orderId }).first('domains');
  const names = domains.map(({ domain }: { domain: string }) => domain);
  const alive = orders.sandbox.alive();
  return [
    ...alive.domains.filter((one) => names.includes(one)),
    ...alive.mailboxes.filter((one) => emails.includes(one)),
  ];
}
/** Places an order and pays for it. */
async function paid(desk: OrderDesk, body?: Record<string, unknown>): Promise<string> {
  const id = await desk.place(body);
  await desk.pay(id);
  if ((await desk.row(id)).state !== 'paid') throw new Error('not paid');
  return id;
}

test.serial(
  'paid, queued, provisioning, configuring, ready: mailboxes of the workspace with sealed credentials, warmed by the provider alone',
  async (t) => {
    const desk = await openOrderDesk(orders);
    const id = await paid(desk);
    t.like(await desk.drive(id), { kind: 'done', state: 'ready' });
    t.deepEqual(await desk.events(id), ['awaiting_payment', 'paid', 'queued', 'provisioning', 'configuring', 'ready']);
    const { body } = await desk.call('GET', `/mailbox-provisioning/${id}`);
    t.true(body.steps.every((step: { done: boolean }) => step.done));
    t.is(body.mailboxes.length, 2);
    for (const mailbox of body.mailboxes) {
      t.like(mailbox, { external_status: 'active', warmup_external_status: 'active' });
      const shown = await desk.call('GET', `/emails/${mailbox.email_account_id}`);
      t.like(shown.body, { email: mailbox.email, status: 'active' }, shown.text);
      const { body: warmup } = await desk.call('GET', `/emails/${mailbox.email_account_id}/warmup`);
      t.is(warmup.status, 'stopped', 'two warmups of one mailbox would exceed the ramp of each');
    }
    const { db } = orders.world.deps;
    t.deepEqual(await db('order_mailboxes').where({ order_id: id }).pluck('credentials'), [null, null]);
    t.like(await db('managed_domains').where({ order_id: id }).first(), { state: 'active' });
    t.false((await desk.row(id)).under_way);
  },
);

test.serial(
  'a second attempt of a step or its undoing waits while the first may have its call under way',
  async (t) => {
    const desk = await openOrderDesk(orders);
    const id = await paid(desk);
    const { ctx } = desk;
    const { db } = orders.world.deps;
    const claim = (until: string) =>
      db('order_steps')
        .where({ order_id: id, step: 'domain:0' })
        .update({ call_until: db.raw(until) });
    const alive = `now() + interval '1 hour'`;
    await eventually(async () => (await advanceMailboxOrder(ctx, id)).kind === 'step');
    await claim(alive);
    t.like(await performOrderStep(ctx, id, 'domain:0'), { outcome: 'retry' });
    t.deepEqual(effectsOf(id), []);
    await claim('now()');
    t.deepEqual(await performOrderStep(ctx, id, 'domain:0'), { outcome: 'done' });
    await cancelOrder(ctx, id);
    await claim(alive);
    t.like(await undoOrderStep(ctx, id, 'domain:0'), { outcome: 'retry' });
    await claim('now()');
    t.deepEqual(await undoOrderStep(ctx, id, 'domain:0'), { outcome: 'done' });
    t.deepEqual(
      effectsOf(id).map(({ operation }) => operation),
      ['domains/register', 'domains/release'],
    );
  },
);

test.serial('a second order on a domain of the workspace registers nothing, and takes other addresses', async (t) => {
  const desk = await openOrderDesk(orders);
  const domain = freshDomain();
  await desk.drive(await paid(desk, { domain }));
  const second = await paid(desk, { domain });
  await desk.drive(second);
  t.deepEqual(await desk.steps(second), ['mailbox done', 'mailbox done', 'dns done']);
  t.is(new Set(await orders.world.deps.db('order_mailboxes').where({ domain }).pluck('email')).size, 4);
});

for (const does of ['fail', 'half', 'lost', 'twice', 'slow', 'late'] as const)
  test.serial(
    `the provider answers with "${does}" at every step: each is done once, and the order is ready`,
    async (t) => {
      const desk = await openOrderDesk(orders);
      const id = await paid(desk);
      for (const operation of ['domains/register', 'mailboxes/create', 'domains/dns', 'mailboxes/warmup'])
        orders.sandbox.behave({ does, operation, key: id, ms: does === 'late' ? 600 : 50 });
      t.like(await desk.drive(id), { state: 'ready' });
      await orders.sandbox.idle();
      const keys = effectsOf(id).map(({ key }) => key);
      t.is(keys.length, 6);
      t.is(new Set(keys).size, 6, 'nothing happened twice');
    },
  );

test.serial(
  'refused at any step: the order fails, what was made is undone in reverse, the payment goes back',
  async (t) => {
    for (const operation of ['domains/register', 'mailboxes/create', 'domains/dns', 'mailboxes/warmup']) {
      const desk = await openOrderDesk(orders);
      const id = await paid(desk);
      orders.sandbox.behave({ does: 'refuse', operation, key: id, code: 'no_capacity' });
      t.like(await desk.drive(id), { kind: 'done', state: 'failed' }, operation);
      t.deepEqual(await leftOf(id), [], operation);
      t.is(await desk.payment(id), 'refund_due');
      const { body } = await desk.call('GET', `/mailbox-provisioning/${id}`);
      t.like(body, { status: 'failed', needs_person: false, error: { code: 'mailbox_provisioning_failed' } });
      const undone = effectsOf(id).filter(({ operation: one }) => /retire|release/.test(one));
      const made = effectsOf(id).filter(({ operation: one }) => /create|register/.test(one));
      t.deepEqual(
        undone.map(({ about }) => about),
        made.map(({ key }) => key).reverse(),
      );
    }
  },
);

test.serial(
  'a domain that somebody else registers meanwhile: domain_unavailable, and the payment goes back',
  async (t) => {
    const desk = await openOrderDesk(orders);
    const domain = freshDomain();
    const id = await paid(desk, { domain });
    orders.sandbox.foreign.add(domain);
    t.like(await desk.drive(id), { state: 'failed' });
    t.like((await desk.row(id)).error, { code: 'domain_unavailable' });
    t.is(await desk.payment(id), 'refund_due');
  },
);

test.serial(
  'a step that was done without an answer is undone by its key, also when the call arrives after its undoing',
  async (t) => {
    const desk = await openOrderDesk(orders);
    const id = await paid(desk);
    // Each call to create the first mailbox is answered too late, so that its effect is unknown when the order is
    // abandoned.
    orders.sandbox.behave({
      does: 'late',
      operation: 'mailboxes/create',
      key: `${id}/mailbox:0`,
      ms: 2_500,
      times: 50,
    });
    t.like(await desk.drive(id), { kind: 'done', state: 'failed' });
    t.like((await desk.row(id)).error, { code: 'mailbox_provisioning_failed' });
    t.deepEqual(await leftOf(id), []);
    t.deepEqual(
      await desk.steps(id),
      [
        'domain compensated',
        'mailbox compensated',
        'mailbox pending',
        'dns pending',
        'dns pending',
        'warmup pending',
        'warmup pending',
      ].filter((_step, index) => index !== 4),
    );
    t.is(await desk.payment(id), 'refund_due');
  },
);

test.serial('cancelled in each state: what was made is undone, and what was paid goes back', async (t) => {
  for (const at of ['paid', 'domain', 'mailbox:0', 'mailbox:1', 'dns', 'warmup:0', 'warmup:1', 'ready']) {
    const desk = await openOrderDesk(orders);
    const id = await paid(desk);
    const cancel = async () => void (await cancelOrder(desk.ctx, id));
    if (at === 'paid') await cancel();
    let done = false;
    await desk.drive(id, async (decision) => {
      if (done || decision.kind !== 'step' || !decision.step.startsWith(at)) return;
      done = true;
      // The provider answers slowly, so that the order is cancelled while the provider performs the step.
      const key = `${id}/${decision.step}`;
      orders.sandbox.behave({ does: 'slow', key, ms: 100 });
      const running = performOrderStep(desk.ctx, id, decision.step);
      await eventually(async () => orders.sandbox.requests.some((one) => one.endsWith(` ${key}`)), 30_000, 5);
      await cancel();
      await running;
    });
    if (at === 'ready') {
      await cancel();
      await desk.drive(id);
    }
    t.is((await desk.row(id)).state, 'cancelled', at);
    t.false((await desk.row(id)).under_way, at);
    t.deepEqual(await leftOf(id), [], at);
    t.is(await desk.payment(id), 'refund_due', at);
    t.is((await desk.call('GET', '/emails')).body.data.length, 0, at);
    t.is((await performOrderStep(desk.ctx, id, 'mailbox:0')).outcome, 'skipped', 'a zombie begins nothing');
    t.deepEqual((await desk.events(id)).slice(-1), ['cancelled'], at);
  }
});

test.serial('what cannot be undone needs a person: listed, told, and tried again when they say so', async (t) => {
  const desk = await openOrderDesk(orders);
  const id = await paid(desk);
  await desk.drive(id);
  orders.sandbox.behave({ does: 'refuse', operation: 'mailboxes/retire', key: `${id}/mailbox:1`, code: 'locked' });
  await cancelOrder(desk.ctx, id);
  t.like(await desk.drive(id), { kind: 'done', state: 'cancelled' });
  const { body } = await desk.call('GET', `/mailbox-provisioning/${id}`);
  t.true(body.needs_person);
  t.is(body.steps.find((step: { key: string }) => step.key === 'mailbox:1').status, 'needs_person');
  t.is(
    body.steps.find((step: { key: string }) => step.key === 'mailbox:0').status,
    'compensated',
    'the others were undone',
  );
  t.is((await leftOf(id)).length, 1);
  t.is((await desk.events(id)).at(-1), 'mailbox_order.needs_person');
  const { db } = orders.world.deps;
  const letter = await db('dead_letters').where({ task_type: 'mailbox_order_undo', task_id: id }).first();
  t.like(letter, { status: 'pending', next_retry_at: null });
  t.is(await desk.payment(id), 'refund_due', 'the person who paid does not wait for it');

  await replayTask(desk.ctx, letter.id);
  await desk.drive(id);
  t.deepEqual(await leftOf(id), []);
  t.false((await desk.call('GET', `/mailbox-provisioning/${id}`)).body.needs_person);
});

test.serial(
  'the checkout: made by the order, closed when its time is over; a payment in the last moment counts, one after a cancellation goes back',
  async (t) => {
    const desk = await openOrderDesk(orders);
    const id = await desk.place();
    t.like(await desk.drive(id), { kind: 'wait', state: 'awaiting_payment' });
    const { body } = await desk.call('GET', `/mailbox-provisioning/${id}`);
    t.regex(body.checkout_url, /^http/);
    const { db } = orders.world.deps;
    await db('mailbox_orders').where({ id }).update({ pay_by: new Date() });
    t.like(await desk.drive(id), { kind: 'done', state: 'failed' });
    t.like((await desk.row(id)).error, { code: 'payment_expired' });
    t.is(await desk.payment(id), 'expired');
    t.is(orders.stripe.sessionOf((await desk.row(id)).payment_id)!.status, 'expired');

    const late = await desk.place();
    await db('mailbox_orders').where({ id: late }).update({ pay_by: new Date() });
    await desk.pay(late);
    t.is((await desk.row(late)).state, 'paid');

    const cancelled = await desk.place();
    await desk.drive(cancelled);
    await cancelOrder(desk.ctx, cancelled);
    await desk.pay(cancelled);
    t.is((await desk.row(cancelled)).state, 'cancelled');
    t.is(await desk.payment(cancelled), 'refund_due');
    t.like(await desk.drive(cancelled), { kind: 'done', state: 'cancelled' });
  },
);

test.serial('a domain that mailboxes of another order live on is kept when its own order is cancelled', async (t) => {
  const desk = await openOrderDesk(orders);
  const domain = freshDomain();
  const first = await paid(desk, { domain });
  await desk.drive(first);
  const second = await paid(desk, { domain });
  await desk.drive(second);
  await cancelOrder(desk.ctx, first);
  await desk.drive(first);
  t.deepEqual(await desk.steps(first), [
    'domain compensated',
    'mailbox compensated',
    'mailbox compensated',
    'dns compensated',
  ]);
  t.is((await leftOf(second)).length, 3);
});

test.serial('the end of the subscription of mailboxes in use retires them, without a refund', async (t) => {
  const desk = await openOrderDesk(orders);
  const id = await paid(desk);
  await desk.drive(id);
  t.true(await transact(desk.ctx, (tx) => recordOrderPaymentFailed(tx, id, 'subscription_ended')));
  await desk.drive(id);
  t.like(await desk.row(id), { state: 'failed', under_way: false });
  t.like((await desk.row(id)).error, { code: 'subscription_ended' });
  t.is(await desk.payment(id), 'paid');
  t.deepEqual(await leftOf(id), []);
});

test.serial('nothing is done for an order that was not paid, and a second decision changes nothing', async (t) => {
  const desk = await openOrderDesk(orders);
  const id = await desk.place();
  t.is((await performOrderStep(desk.ctx, id, 'mailbox:0')).outcome, 'skipped');
  t.is((await undoOrderStep(desk.ctx, id, 'mailbox:0')).outcome, 'skipped');
  await desk.pay(id);
  await Promise.all([advanceMailboxOrder(desk.ctx, id), advanceMailboxOrder(desk.ctx, id)]);
  t.deepEqual(await desk.events(id), ['awaiting_payment', 'paid', 'queued', 'provisioning']);
});

test.serial('nothing is ordered once the deletion of the workspace is scheduled, whoever was admitted', async (t) => {
  const { world } = orders;
  const desk = await openOrderDesk(orders);
  const quote = await desk.quote();
  const { organizationId, userId } = desk.tenant;
  await world.deps.db('organizations').where({ id: organizationId }).update({ deletion_scheduled_for: new Date() });
  const actor = { ...desk.ctx.actor, kind: 'session' as const, userId };
  await t.throwsAsync(orderMailboxes({ ...desk.ctx, actor }, quote.body.quote_id), { message: /will be deleted/ });
  t.is((await world.deps.db('mailbox_orders').where({ organization_id: organizationId })).length, 0);
});
