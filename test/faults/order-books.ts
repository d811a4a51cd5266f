import { isBalanced, readBooks, type Books } from '../../domain/billing/mailbox-orders/books.ts';
import type { ProvisioningSandbox } from '../../local/provisioning.ts';
import type { RawDb } from '../harness/database.ts';
import type { StripeDouble } from '../harness/stripe.ts';
import type { Check } from './reconcile.ts';

/** Data that are compared: from the database, the provider and Stripe. */
interface OrderFacts {
  db: RawDb;
  sandbox: ProvisioningSandbox;
  stripe: StripeDouble;
  orders: readonly OrderFact[];
}

/** Order, and the amount (cents) paid on its payment page, refunded or not. */
interface OrderFact {
  id: string;
  price: number;
  taken: number;
}

type Place = 'taken' | 'ready' | 'renewed' | 'refunds' | 'needsPerson';

interface Count extends OrderFacts {
  counted: Record<Place, number>;
  faults: Record<'money' | 'orders' | 'renewals' | 'effects' | 'books', string[]>;
}

const NOTHING: Books = {
  currency: 'usd',
  taken: 0,
  ready: 0,
  renewed: 0,
  refunds: 0,
  needsPerson: 0,
  underWay: 0,
  unexplained: [],
};

/**
 * Compares Heron's accounts with the amounts counted at the provider and Stripe. No order or renewal may be in
 * progress.
 */
export async function compareOrderBooks(facts: OrderFacts, when: string): Promise<Check[]> {
  const count: Count = {
    ...facts,
    counted: { taken: 0, ready: 0, renewed: 0, refunds: 0, needsPerson: 0 },
    faults: { money: [], orders: [], renewals: [], effects: [], books: [] },
  };
  for (const order of facts.orders) await countOrder(count, order);
  const renewals = await countRenewals(count);
  await lookAtEffects(count);
  await lookAtBooks(count);
  const { counted, faults, sandbox, orders } = count;
  return [
    { name: `money, ${when}`, seen: `${counted.taken} cents of ${orders.length} orders`, faults: faults.money },
    { name: `orders, ${when}`, seen: `${counted.ready} cents ready`, faults: faults.orders },
    { name: `renewals, ${when}`, seen: `${counted.renewed} cents of ${renewals} payments`, faults: faults.renewals },
    { name: `effects, ${when}`, seen: `${sandbox.effects.length} at the provider`, faults: faults.effects },
    { name: `books, ${when}`, seen: `${counted.refunds} back, ${counted.needsPerson} open`, faults: faults.books },
  ];
}

async function countOrder({ db, sandbox, stripe, counted, faults }: Count, { id, price, taken }: OrderFact) {
  const row = await db('mailbox_orders').where({ id }).first();
  const payment = await db('payments').where({ id: row.payment_id }).first();
  const { times, returned } = givenBack(stripe, payment.id);
  const emails: string[] = await db('order_mailboxes').where({ order_id: id }).pluck('email');
  const alive = new Set(sandbox.alive().mailboxes);
  const living = emails.filter((email) => alive.has(email)).length;
  const open: string[] = await db('order_steps').where({ order_id: id, state: 'needs_person' }).pluck('step');
  const said = `${id} (${row.state}, payment ${payment.state}, took ${taken}, returned ${returned}, ${living} of ${emails.length} mailboxes)`;
  counted.taken += taken;
  counted.refunds += returned;
  if (times > 1 || returned > taken) faults.money.push(`${said}: given back twice`);
  if (taken > returned && row.state === 'ready') counted.ready += taken;
  else if (taken > returned && payment.state === 'needs_person') counted.needsPerson += taken;
  else if (taken > returned) faults.money.push(`${said}: money is kept for nothing`);
  if (row.state === 'ready' && (living < emails.length || taken !== price || returned > 0))
    faults.orders.push(`${said}: ready, and not all there or not paid`);
  if (row.state !== 'ready' && living > open.filter((step) => step.startsWith('mailbox')).length)
    faults.orders.push(`${said}: mailboxes live on that nobody pays`);
  if (row.under_way) faults.orders.push(`${said}: it has not come to an end`);
  const ended = `DELETE /v1/subscriptions/${payment.provider_subscription_id}`;
  if (returned > 0 && payment.provider_subscription_id && !stripe.requests.includes(ended))
    faults.money.push(`${said}: its subscription goes on`);
}

/** Checks that each renewal payment bought a year at the provider or was refunded. Returns their number. */
async function countRenewals({ db, sandbox, stripe, counted, faults }: Count): Promise<number> {
  const rows = await db('payments as p')
    .join('domain_renewals as r', 'r.id', 'p.subject_id')
    .join('managed_domains as d', 'd.id', 'r.domain_id')
    .where({ 'p.subject': 'renewal' })
    .select('p.id', 'p.state as payment', 'r.state', 'r.payment_id', 'd.id as domain', 'd.state as registration');
  for (const row of rows) {
    const taken = stripe.intents
      .filter(({ metadata }) => metadata.payment_id === row.id)
      .reduce((sum, { amount_received: cents }) => sum + cents, 0);
    const { times, returned } = givenBack(stripe, row.id);
    const years = sandbox.effects.filter(({ key }) => key === `${row.domain}/renewal:${row.id}`).length;
    const said = `${row.id} (${row.state}, payment ${row.payment}, took ${taken}, returned ${returned}, ${years} years)`;
    counted.taken += taken;
    counted.refunds += returned;
    counted.renewed += taken - returned;
    if (times > 1 || returned > taken) faults.renewals.push(`${said}: given back twice`);
    if (taken > returned && (years !== 1 || row.state !== 'renewed' || row.payment_id !== row.id))
      faults.renewals.push(`${said}: money is kept for nothing`);
    // A domain that was renewed while its order was cancelled is returned with the order.
    if (years > 0 && taken === returned && row.registration !== 'released')
      faults.renewals.push(`${said}: a year that nobody paid`);
  }
  return rows.length;
}

function givenBack(stripe: StripeDouble, paymentId: string): { times: number; returned: number } {
  const back = stripe.refunds.filter((one) => one.metadata?.payment_id === paymentId && one.status === 'succeeded');
  return { times: back.length, returned: back.reduce((sum, { amount }) => sum + amount, 0) };
}

async function lookAtEffects({ db, sandbox, orders, faults }: Count): Promise<void> {
  const owned = await ownedBy(db, orders);
  const left = sandbox.alive().domains.filter((domain) => !owned.has(domain));
  faults.effects.push(...sandbox.violations, ...left.map((domain) => `${domain} is registered for nobody`));
  const keys = sandbox.effects.map(({ operation, key }) => `${operation} ${key}`);
  faults.effects.push(...keys.filter((key, index) => keys.indexOf(key) !== index).map((key) => `${key} twice`));
}

async function lookAtBooks({ db, stripe, counted, faults }: Count): Promise<void> {
  const [books = NOTHING] = await readBooks(db);
  if (!isBalanced(books)) faults.books.push(`not balanced: ${JSON.stringify(books)}`);
  for (const key of Object.keys(counted) as Place[])
    if (books[key] !== counted[key]) faults.books.push(`${key}: the books say ${books[key]}, counted ${counted[key]}`);
  if (books.underWay !== 0) faults.books.push(`${books.underWay} are under way at the end`);
  const kept = books.ready + books.renewed + books.needsPerson;
  if (stripe.balance !== kept) faults.books.push(`Stripe holds ${stripe.balance}, the books ${kept}`);
}

/** Returns the domains of ready orders, and those whose return needs a person. */
async function ownedBy(db: RawDb, orders: readonly OrderFact[]): Promise<Set<string>> {
  const owned = new Set<string>();
  for (const { id } of orders) {
    const { state, domains } = await db('mailbox_orders').where({ id }).first('state', 'domains');
    const open = await db('order_steps').where({ order_id: id, state: 'needs_person' }).whereLike('step', 'domain%');
    if (state === 'ready' || open.length > 0) for (const { domain } of domains) owned.add(domain);
  }
  return owned;
}
