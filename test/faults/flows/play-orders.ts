import { setTimeout as sleep } from 'node:timers/promises';
import { signalRenewal } from '../../../domain/billing/domain-renewals/move.ts';
import { systemCtx } from '../../../domain/platform/kernel/context.ts';
import { transact } from '../../../domain/platform/kernel/transact.ts';
import { refundArgs } from '../../../domain/billing/payments/request-refund.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { signalOpen } from '../../../temporal/dispatch.ts';
import { mailboxOrderWorkflow } from '../../../workflows/mailbox-order/contract.ts';
import { orderRefundWorkflow } from '../../../workflows/order-refund/contract.ts';
import { createTenant } from '../../harness/factories.ts';
import type { Said } from './client.ts';
import type { Flow, Shopping } from './plan.ts';
import { patiently, type Bought, type Game } from './game.ts';

const POLL_MS = 250;
/** Number of polls between two simulated passages of time. */
const HASTEN_EVERY = 12;
/** Time (ms) before the end of the registration; a renewal starts a month before. */
const LEFT_MS = 29 * DAY_MS;

/** Gets a quote, places the order and pays it as the flow defines. */
export async function playOrder(game: Game, flow: Flow): Promise<void> {
  await payOrder(game, flow, await placeOrder(game, flow));
}

/**
 * Places and pays an order, waits for the domain, and lets a year pass. Then performs the actions that the renewal
 * requires of a person.
 */
export async function playRenewal(game: Game, flow: Flow): Promise<void> {
  const bought = await placeOrder(game, flow);
  await payOrder(game, flow, bought);
  const { db } = game.assembly.deps;
  const isOver = () =>
    patiently(() =>
      db('mailbox_orders').where({ id: bought.id }).whereIn('state', ['failed', 'cancelled']).first('id'),
    );
  const until = async <T>(look: () => Promise<T | undefined>): Promise<T | undefined> => {
    for (let turn = 0; ; turn += 1) {
      const found = await patiently(look);
      if (found) return found;
      if (await isOver()) return undefined;
      if (turn % HASTEN_EVERY === 0) await hasten({ ...game, orders: [bought] });
      await sleep(POLL_MS);
    }
  };
  const ready: { id: string } | undefined = await until<{ id: string }>(() =>
    db('domain_renewals as r')
      .join('managed_domains as d', 'd.id', 'r.domain_id')
      .join('mailbox_orders as o', 'o.id', 'd.order_id')
      .where({ 'o.id': bought.id, 'o.state': 'ready', 'r.state': 'scheduled' })
      .first('d.id'),
  );
  if (!ready) return;
  misbehave(game, flow, ready.id);
  await letTimePass(game, ready.id);
  const handled = new Set<string>();
  await until(async () => {
    const row = await db('domain_renewals').where({ domain_id: ready.id }).orderBy('created_at').first();
    if (row.state === 'renewed' || row.state === 'ended') return row;
    const once = `${row.payment_id} ${row.error?.code}`;
    if (!handled.has(once) && (await settleByHand(game, bought, row))) handled.add(once);
    return undefined;
  });
}

async function placeOrder({ assembly, client, shop, ids, orders }: Game, flow: Flow): Promise<Bought> {
  const { count, warmup } = flow.shopping!;
  const tenant = await patiently(() => createTenant(assembly.deps, flow.marker));
  shop.serve(tenant.organizationId, flow);
  const ask = async (path: string, body: object, wanted: number): Promise<Said> => {
    const said = await client.ask('POST', path, tenant.sessionToken, body);
    if (said.status !== wanted)
      throw new Error(`${flow.marker} ${path}: ${said.status} ${JSON.stringify(said.answer)}`);
    return said;
  };
  const wanted = { provider: 'google', count, domain: `${flow.marker}.com`, warmup };
  const { answer: quote } = await ask('/mailboxes/provision/quote', wanted, 200);
  const { answer } = await ask('/mailboxes/provision', { quote_id: quote.quote_id }, 202);
  const bought = { marker: flow.marker, id: answer.provisioning_id, tenant, price: 0, taken: 0 };
  ids.set(flow.marker, bought.id);
  orders.push(bought);
  if (flow.kind === 'order') misbehave({ shop }, flow, bought.id);
  bought.price = (
    await patiently(() => assembly.deps.db('mailbox_orders').where({ id: bought.id }).first())
  ).total_due_today_cents;
  return bought;
}

function misbehave({ shop }: Pick<Game, 'shop'>, { shopping }: Flow, key: string): void {
  shop.sandbox.behave(...shopping!.misdeeds.map((one) => ({ ...one, key })));
}

async function payOrder({ assembly, shop: { stripe } }: Game, { shopping }: Flow, bought: Bought): Promise<void> {
  const { db } = assembly.deps;
  const { pays } = shopping as Shopping;
  for (;;) {
    const row = await patiently(() =>
      db('mailbox_orders as o')
        .join('payments as p', 'p.id', 'o.payment_id')
        .where({ 'o.id': bought.id })
        .first('o.state', 'p.id as payment', 'p.checkout_url as url'),
    );
    if (row.state !== 'awaiting_payment') return;
    if (row.url) {
      if (pays === 'never') return letPayTimePass(assembly, bought);
      const session = stripe.sessionOf(row.payment);
      if (session?.status !== 'open') return;
      const cents = pays === 'other_amount' ? bought.price - 100 : bought.price;
      await stripe.pay(session.id, { cents });
      bought.taken += cents;
      return;
    }
    await sleep(POLL_MS);
  }
}

/** Moves the payment deadline to a few seconds from now. */
async function letPayTimePass({ deps }: Game['assembly'], { id, tenant: { organizationId } }: Bought): Promise<void> {
  await patiently(() => deps.db('mailbox_orders').where({ id }).update({ pay_by: new Date() }));
  await patiently(() =>
    transact(systemCtx(deps, organizationId, 'faults'), async (tx) =>
      tx.intend(signalOpen(mailboxOrderWorkflow, { organizationId, orderId: id }, 'retry', { cause: 'operator' })),
    ),
  );
}

/** Moves the end of a domain's registration to less than a month from now. */
async function letTimePass({ assembly: { deps } }: Game, domainId: string): Promise<void> {
  const ends = new Date(Date.now() + LEFT_MS);
  await patiently(() =>
    deps.db.transaction(async (trx) => {
      await trx('managed_domains').where({ id: domainId }).update({ expires_at: ends });
      await trx('domain_renewals')
        .where({ domain_id: domainId })
        .update({ expires_at: ends, renew_at: new Date(ends.getTime() - 30 * DAY_MS) });
    }),
  );
}

/**
 * Pays on the page after a declined charge, and replays steps that the provider refused. Returns false while no action
 * is needed.
 */
async function settleByHand(
  { assembly, client, shop: { stripe } }: Game,
  { tenant }: Bought,
  row: any,
): Promise<boolean> {
  const { db } = assembly.deps;
  if (row.state === 'charging' && row.payment_id) {
    const intent = stripe.intents.find(
      ({ metadata, status }) => metadata.payment_id === row.payment_id && status === 'processing',
    );
    if (intent) await stripe.settleCharge(row.payment_id, true);
    return intent !== undefined;
  }
  if (row.error?.code === 'renewal_payment_required') {
    const session = stripe.sessionOf(row.payment_id);
    if (session?.status !== 'open') return false;
    await stripe.pay(session.id);
    return true;
  }
  if (row.error?.code !== 'renewal_refused') return false;
  const letter = await db('dead_letters').where({ task_id: row.domain_id, status: 'pending' }).first('id');
  if (!letter) return false;
  await client.ask('POST', `/tasks/dlq/${letter.id}/replay`, tenant.sessionToken, {});
  return true;
}

/** Simulates the passing of days, so that waits for a bank or provider end. */
export async function hasten({ assembly: { deps }, orders }: Pick<Game, 'assembly' | 'orders'>): Promise<void> {
  const { db } = deps;
  for (const { tenant } of orders) {
    const { organizationId } = tenant;
    const domains: string[] = await patiently(() =>
      db('domain_renewals')
        .where({ organization_id: organizationId })
        .whereIn('state', ['scheduled', 'charging', 'renewing', 'requires_action'])
        .where('renew_at', '<', new Date())
        .pluck('domain_id'),
    );
    const refunds = await patiently(() =>
      db('payments').where({ organization_id: organizationId, state: 'refund_due' }).select('id', 'organization_id'),
    );
    if (domains.length + refunds.length === 0) continue;
    await patiently(() =>
      transact(systemCtx(deps, organizationId, 'faults'), async (tx) => {
        for (const id of domains) signalRenewal(tx, id, 'payment');
        for (const payment of refunds)
          tx.intend(signalOpen(orderRefundWorkflow, refundArgs(payment), 'changed', { cause: 'provider' }));
      }),
    );
  }
}
