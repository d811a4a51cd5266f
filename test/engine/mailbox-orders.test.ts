import test from 'ava';
import { reconcile } from '../../domain/operations/system/reconcile.ts';
import { breakWrites, QUOTED } from '../harness/broken-writes.ts';
import { startEngine, type Engine } from '../harness/engine.ts';
import { eventually } from '../harness/eventually.ts';
import { createOrderWorld, openOrderDesk, type OrderDesk, type OrderWorld } from '../harness/mailbox-orders.ts';
import { assertNowhere } from '../harness/secrets.ts';

/*
 * Tests orders of mailboxes on a real Temporal with a real worker. A Stripe stub reports payments by webhook, and a
 * provider sandbox fulfils the orders. domain/billing/mailbox-orders/saga.test.ts tests the effect of each fault on
 * each step, without Temporal.
 */

let orders: OrderWorld;
let engine: Engine;
test.before(async () => {
  orders = await createOrderWorld({
    env: {
      WORKER_ROLES: 'temporal,relay',
      RUN_BLOCK_AFTER_MS: '300',
      PROVISIONING_TIMEOUT_MS: '3000',
      PROVISIONING_GIVE_UP_MS: '1000',
    },
  });
  engine = await startEngine(orders.world);
});
test.after.always(async () => {
  await engine?.stop();
  await orders?.close();
});

const runOf = (orderId: string) => engine.temporal.workflow.getHandle(`mailbox-order/${orderId}`);
const effectsOf = (orderId: string) => orders.sandbox.effects.filter(({ key }) => key.startsWith(orderId));
const showing = (orderId: string, state: string) =>
  eventually(async () => (await runOf(orderId).describe()).searchAttributes.State?.[0] === state);
const asked = (request: string) => eventually(async () => orders.sandbox.requests.includes(request));

/** Counts the mailboxes and domains of an order that still exist at the provider, which cost money. */
async function leftOf(orderId: string): Promise<number> {
  await orders.sandbox.idle();
  const made = effectsOf(orderId).filter(({ operation }) => /register|create/.test(operation));
  const { mailboxes, domains } = orders.sandbox.alive();
  return made.filter(({ about }) => mailboxes.includes(about) || domains.includes(about)).length;
}

/** Waits for the payment page that the order's workflow creates. */
async function pageOf(desk: OrderDesk, orderId: string): Promise<string> {
  await eventually(
    async () => (await desk.call('GET', `/mailbox-provisioning/${orderId}`)).body.checkout_url !== undefined,
  );
  return orders.stripe.sessionOf((await desk.row(orderId)).payment_id)!.id;
}

/** Pays an order on its payment page. */
async function payOrder(desk: OrderDesk, orderId: string): Promise<void> {
  await orders.stripe.pay(await pageOf(desk, orderId));
}

/** Returns true if all money was returned in one refund. */
async function isRefunded(desk: OrderDesk, orderId: string): Promise<boolean> {
  await eventually(async () => (await desk.payment(orderId)) === 'refunded');
  const { payment_id: paymentId, total_due_today_cents: cents } = await desk.row(orderId);
  const back = orders.stripe.refunds.filter(({ metadata }) => metadata?.payment_id === paymentId);
  return back.length === 1 && back[0]!.amount === cents;
}

test.serial('paid by the word of Stripe, and done step by step until it is ready', async (t) => {
  const desk = await openOrderDesk(orders);
  const id = await desk.place();
  await pageOf(desk, id);
  await showing(id, 'awaiting_payment');
  t.deepEqual(effectsOf(id), [], 'nothing is bought before it is paid');
  await payOrder(desk, id);
  t.is(await runOf(id).result(), 'ready');
  t.is(new Set(effectsOf(id).map(({ key }) => key)).size, 6);
  t.is(effectsOf(id).length, 6, 'nothing happened twice');
  t.deepEqual(await desk.events(id), ['awaiting_payment', 'paid', 'queued', 'provisioning', 'configuring', 'ready']);
  t.is((await desk.call('GET', '/emails')).body.data.length, 2);
  t.is(await desk.payment(id), 'paid');
});

test.serial('cancelled while a mailbox is being created: undone in reverse, and the money goes back', async (t) => {
  const desk = await openOrderDesk(orders);
  const id = await desk.place();
  orders.sandbox.behave({ does: 'slow', key: `${id}/mailbox:1`, ms: 1_500 });
  await payOrder(desk, id);
  await asked(`mailboxes/create ${id}/mailbox:1`);
  t.is((await desk.call('POST', `/mailbox-provisioning/${id}/cancel`)).body.status, 'cancelled');
  t.is(await runOf(id).result(), 'cancelled');
  t.is(await leftOf(id), 0);
  t.deepEqual(
    effectsOf(id).map(({ operation, key }) => `${operation} ${key.slice(id.length + 1)}`),
    [
      'domains/register domain:0',
      'mailboxes/create mailbox:0',
      'mailboxes/create mailbox:1',
      'mailboxes/retire mailbox:1/undo',
      'mailboxes/retire mailbox:0/undo',
      'domains/release domain:0/undo',
    ],
  );
  t.true(await isRefunded(desk, id));
});

test.serial('an order whose run is cancelled in the middle of its undoing is undone to the end', async (t) => {
  const desk = await openOrderDesk(orders);
  const id = await desk.place();
  orders.sandbox.behave({ does: 'slow', key: `${id}/mailbox:1`, ms: 1_500 });
  orders.sandbox.behave({ does: 'slow', key: `${id}/mailbox:1/undo`, ms: 2_000 });
  await payOrder(desk, id);
  await asked(`mailboxes/create ${id}/mailbox:1`);
  await desk.call('POST', `/mailbox-provisioning/${id}/cancel`);
  await asked(`mailboxes/retire ${id}/mailbox:1/undo`);
  await runOf(id).cancel();
  t.is(await runOf(id).result(), 'cancelled');
  t.is(await leftOf(id), 0, 'nothing that was bought waits for the sweep');
  t.false((await desk.row(id)).under_way);
  t.true(await isRefunded(desk, id));
});

test.serial('a step that is refused for good, and one that is never answered: failed, undone, refunded', async (t) => {
  for (const does of ['refuse', 'fail'] as const) {
    const desk = await openOrderDesk(orders);
    const id = await desk.place();
    orders.sandbox.behave({ does, operation: 'domains/dns', key: id, code: 'no_zone', times: 100 });
    await payOrder(desk, id);
    t.is(await runOf(id).result(), 'failed', does);
    t.like((await desk.row(id)).error, { code: 'mailbox_provisioning_failed' });
    t.is(await leftOf(id), 0, does);
    t.true(await isRefunded(desk, id), does);
  }
});

test.serial('what keeps failing is shown as blocked; retried, the same step goes on and is done once', async (t) => {
  const desk = await openOrderDesk(orders);
  const id = await desk.place();
  const repair = await breakWrites(
    orders.world,
    'order_steps',
    'update',
    `new.step = 'mailbox:0' and new.state = 'done'`,
  );
  await payOrder(desk, id);
  const { db } = orders.world.deps;
  const letter = await eventually(() =>
    db('dead_letters').where({ task_type: 'mailbox_order', task_id: id, status: 'pending' }).first(),
  );
  await showing(id, 'blocked');
  t.is((await desk.row(id)).blocked_reason?.code, 'run.kept_failing');
  assertNowhere(t, letter.last_error, [QUOTED]);
  await repair();
  t.is((await desk.call('POST', `/tasks/dlq/${letter.id}/replay`)).status, 200);
  t.is(await runOf(id).result(), 'ready');
  t.is((await desk.row(id)).blocked_reason, null);
  t.is(effectsOf(id).length, 6, 'the mailbox was created once');
});

test.serial(
  'a run that is lost is found by reconcile: while it waits for the payment, and in the middle of the steps',
  async (t) => {
    const desk = await openOrderDesk(orders);
    const waiting = await desk.place();
    await pageOf(desk, waiting);
    await showing(waiting, 'awaiting_payment');
    await runOf(waiting).terminate('lost');
    await orders.stripe.pay(orders.stripe.sessionOf((await desk.row(waiting)).payment_id)!.id);
    t.is((await desk.row(waiting)).state, 'paid', 'the payment counts without the run');

    const working = await desk.place();
    orders.sandbox.behave({ does: 'slow', key: `${working}/mailbox:0`, ms: 1_000 });
    await payOrder(desk, working);
    await asked(`mailboxes/create ${working}/mailbox:0`);
    await runOf(working).terminate('lost');

    let found = 0;
    await eventually(async () => {
      for (const { family, missing } of await reconcile(orders.world.deps))
        if (family === 'mailbox-order') found += missing;
      return found >= 2;
    });
    for (const id of [waiting, working]) {
      await eventually(async () => (await desk.row(id)).state === 'ready');
      t.is(effectsOf(id).length, 6);
    }
    t.deepEqual(await reconcile(orders.world.deps).then((all) => all.filter(({ missing }) => missing > 0)), []);
  },
);
