import type Stripe from 'stripe';
import { advanceMailboxOrder } from '../../domain/billing/mailbox-orders/advance.ts';
import { closeOrderCheckout, openOrderCheckout } from '../../domain/billing/mailbox-orders/checkout.ts';
import { cancelOrder } from '../../domain/billing/mailbox-orders/end.ts';
import { performOrderStep } from '../../domain/billing/mailbox-orders/perform.ts';
import { undoOrderStep } from '../../domain/billing/mailbox-orders/undo.ts';
import { advanceRefund } from '../../domain/billing/payments/refund.ts';
import { replayTask } from '../../domain/operations/dead-letters/dead-letters.ts';
import type { Behaviour } from '../../local/provisioning.ts';
import {
  createOrderWorld,
  freshDomain,
  openOrderDesk,
  type OrderDesk,
  type OrderWorld,
} from '../harness/mailbox-orders.ts';
import { compareOrderBooks } from './order-books.ts';
import { seeded, type Random } from './random.ts';
import type { Check } from './reconcile.ts';

/**
 * Way in which a person pays. Notifications of the payment can come twice, or only at the end in any order. The amount
 * can be a different one, and the payment can be missing.
 */
const PAYS = ['once', 'once', 'twice', 'late', 'other_amount', 'never'] as const;
const MISDEEDS = ['slow', 'fail', 'half', 'lost', 'twice', 'late', 'refuse'] as const;
const OPERATIONS = ['domains/register', 'mailboxes/create', 'domains/dns', 'mailboxes/warmup'];
const UNDOING = ['mailboxes/retire', 'domains/release'];
/** Number of iterations after which an order that waits for payment notifications is put aside. */
const TURNS = 60;

/** Order with the test's own record of it. */
interface Played {
  id: string;
  desk: OrderDesk;
  price: number;
  /** Amounts that Stripe charged and refunded for the order (cents). */
  taken: number;
}

/** Checks of the last comparison of the records. */
interface OrderFaults {
  checks: Check[];
}

/**
 * Plays orders with random payments, faults of the provider and of Stripe, cancellations at any step, and two
 * concurrent workflows of one order. Compares the database with the objects created in the sandbox and the money taken
 * and refunded by Stripe. A person then resolves the orders that need it, and all records are compared again. The same
 * seed gives the same orders.
 */
export async function runOrderFaults(options: {
  seed: number;
  orders: number;
  log?: (line: string) => void;
}): Promise<OrderFaults> {
  const orders = await createOrderWorld({ env: { PROVISIONING_TIMEOUT_MS: '300', PROVISIONING_GIVE_UP_MS: '1000' } });
  try {
    let desk = await openOrderDesk(orders);
    const all: Played[] = [];
    for (let index = 0; index < options.orders; index += 1) {
      // A workspace without a plan has a limit of ten mailboxes.
      if (index % 3 === 0) desk = await openOrderDesk(orders);
      const random = seeded(options.seed).fork(`order ${index}`);
      const played = await play(orders, desk, random, all);
      all.push(played);
      options.log?.(`${played.id} ${(await desk.row(played.id)).state}`);
    }
    const random = seeded(options.seed).fork('end');
    await deliverHeld(orders, random);
    await settle(orders, all, random);
    const before = await compare(orders, all, 'left alone');
    await letPeopleSettle(orders, all);
    return { checks: [...before, ...(await compare(orders, all, 'settled by a person'))] };
  } finally {
    await orders.close();
  }
}

async function play(orders: OrderWorld, desk: OrderDesk, random: Random, before: readonly Played[]): Promise<Played> {
  const { stripe } = orders;
  const own = before.filter((one) => one.desk === desk);
  const shared = own.length > 0 && random.next() < 0.4 ? await readyDomain(random.pick(own)) : undefined;
  const count = random.pick([1, 2, 3]);
  const wanted = { count, domain: shared ?? freshDomain(), warmup: random.next() < 0.5 };
  const id = await again(() => desk.place(wanted));
  const played: Played = { id, desk, price: (await desk.row(id)).total_due_today_cents, taken: 0 };
  orders.sandbox.behave(...drawFaults(id, random));
  Object.assign(stripe, random.pick([{}, {}, { failNext: 1 }, { loseNext: 1 }]));
  const cancelAt = random.pick(['never', 'never', 'never', 'before', 'step', 'step', 'ready']);
  await drive(desk, id);
  if (cancelAt === 'before') await cancelOrder(desk.ctx, id);
  await pay(orders, played, random);
  const turn = Math.floor(random.between(0, count * 2 + 3));
  const runs = [drive(desk, id, cancelAt === 'step' ? turn : undefined)];
  // Two concurrent workflows of one order, as can happen if one is wrongly believed to be lost.
  if (random.next() < 0.3) runs.push(drive(desk, id));
  await Promise.all(runs);
  if (cancelAt === 'ready') await cancelOrder(desk.ctx, id);
  return played;
}

function drawFaults(id: string, random: Random): Behaviour[] {
  const steps = Array.from({ length: random.pick([0, 1, 1, 2, 3]) }, () => ({
    does: random.pick(MISDEEDS),
    operation: random.pick(OPERATIONS),
    key: id,
    ms: random.pick([30, 450]),
    times: random.pick([1, 1, 2, 30]),
  }));
  const undos = Array.from({ length: random.pick([0, 0, 1]) }, () => ({
    does: random.pick(MISDEEDS),
    operation: random.pick(UNDOING),
    key: id,
    ms: 30,
    times: random.pick([1, 2]),
  }));
  return [...steps, ...undos];
}

async function pay({ stripe }: OrderWorld, played: Played, random: Random): Promise<void> {
  const how = random.pick(PAYS);
  const paymentId: string = (await played.desk.row(played.id)).payment_id;
  const session = stripe.sessionOf(paymentId);
  // A payment page that was closed or never created accepts no payment.
  if (how === 'never' || session?.status !== 'open') return;
  const cents = how === 'other_amount' ? played.price - 100 : played.price;
  stripe.hold = true;
  await stripe.pay(session.id, { cents });
  stripe.hold = false;
  played.taken += cents;
  const events = [...stripe.held].filter((event) => isAbout(event, paymentId));
  if (how === 'late') return;
  await stripe.deliver(...events, ...(how === 'twice' ? events : []));
}

function isAbout({ data }: Stripe.Event, paymentId: string): boolean {
  const object = data.object as { client_reference_id?: string; metadata?: { payment_id?: string } };
  return object.client_reference_id === paymentId || object.metadata?.payment_id === paymentId;
}

/**
 * Executes iterations of the order's workflow like a worker that retries failed steps. In the iteration `cancelAtTurn`
 * it cancels the order while its step is at the provider.
 */
async function drive(desk: OrderDesk, id: string, cancelAtTurn?: number): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) {
    const decision = await advanceMailboxOrder(desk.ctx, id);
    if (decision.kind === 'wait' || decision.kind === 'done') return;
    const work = again(async () => {
      if (decision.kind === 'checkout') return openOrderCheckout(desk.ctx, id);
      if (decision.kind === 'close') return closeOrderCheckout(desk.ctx, id);
      const verb = decision.kind === 'step' ? performOrderStep : undoOrderStep;
      while ((await verb(desk.ctx, id, decision.step)).outcome === 'retry') await sleep(10);
    });
    if (turn === cancelAtTurn) await cancelOrder(desk.ctx, id);
    if ((await work) === false) return;
  }
}

async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await work();
    } catch (error) {
      if (attempt === 5) throw error;
    }
}

/** Delivers the withheld payment notifications at the end, in random order and some of them twice. */
async function deliverHeld({ stripe }: OrderWorld, random: Random): Promise<void> {
  const events = [...stripe.held];
  const shuffled = [...events, ...events.filter(() => random.next() < 0.3)]
    .map((event) => ({ event, at: random.next() }))
    .sort((a, b) => a.at - b.at);
  await stripe.deliver(...shuffled.map(({ event }) => event));
}

/**
 * Lets the payment deadlines pass, runs every workflow to its end, and requests every refund. Stripe refuses some
 * refunds.
 */
async function settle(orders: OrderWorld, all: readonly Played[], random: Random): Promise<void> {
  const { db } = orders.world.deps;
  await db('mailbox_orders').where({ state: 'awaiting_payment' }).update({ pay_by: new Date() });
  for (const { id, desk } of all) await drive(desk, id);
  for (const { id, desk } of all) {
    const mode = random.pick([{}, {}, { failNext: 1 }, { loseNext: 2 }, { refundMode: 'refuse' as const }]);
    Object.assign(orders.stripe, { refundMode: 'succeed', failNext: 0, loseNext: 0 }, mode);
    await refund(desk, id);
  }
  Object.assign(orders.stripe, { refundMode: 'succeed', failNext: 0, loseNext: 0 });
  await orders.sandbox.idle();
}

async function refund(desk: OrderDesk, id: string): Promise<void> {
  const { payment_id: paymentId } = await desk.row(id);
  for (let turn = 0; turn < 6; turn += 1) if ((await advanceRefund(desk.ctx, { paymentId })).kind === 'done') return;
}

/** Replays every task that requires a person. */
async function letPeopleSettle(orders: OrderWorld, all: readonly Played[]): Promise<void> {
  const { db } = orders.world.deps;
  for (const { ctx } of new Set(all.map((one) => one.desk)))
    for (const { id } of await db('dead_letters')
      .where({ status: 'pending', organization_id: ctx.actor.organizationId })
      .select('id'))
      await replayTask(ctx, id);
  for (const { id, desk } of all) {
    await drive(desk, id);
    await refund(desk, id);
  }
  await orders.sandbox.idle();
}

function compare({ stripe, sandbox, world }: OrderWorld, orders: readonly Played[], when: string): Promise<Check[]> {
  return compareOrderBooks({ db: world.deps.db, sandbox, stripe, orders }, when);
}

async function readyDomain({ id, desk }: Played): Promise<string | undefined> {
  const { state, domains } = await desk.row(id);
  return state === 'ready' ? domains[0].domain : undefined;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
