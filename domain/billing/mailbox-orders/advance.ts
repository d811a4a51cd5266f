import type { OrderDecision } from '../../../workflows/mailbox-order/contract.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { settleHolds } from './hold.ts';
import { lockOrder, moveOrder } from './move.ts';
import { connectMailboxes } from './ready.ts';
import { parseStep, type OrderRow, type StepRow } from './states.ts';
import { planSteps, readSteps } from './steps.ts';

/**
 * Executes the steps of an order that need no network, and returns the workflow's next action. Locks the order, so that
 * cancellations and payments wait.
 * @throws AppError not_found
 */
export async function advanceMailboxOrder(ctx: Ctx, orderId: string): Promise<OrderDecision> {
  return transact(ctx, async (tx) => {
    const order = await lockOrder(tx, orderId);
    if (order.blocked_reason !== null)
      await tx.org.table('mailbox_orders').where({ id: orderId }).update({ blocked_reason: null, updated_at: tx.now });
    return decide({ ...ctx, trx: tx.trx }, tx, order);
  });
}

async function decide(inside: Ctx, tx: Tx, order: OrderRow): Promise<OrderDecision> {
  const { state } = order;
  switch (state) {
    case 'awaiting_payment':
      return awaitPayment(tx, order);
    case 'paid':
      await planSteps(tx, order);
      return moveAndDecide(inside, tx, order, 'queued');
    case 'queued':
      return moveAndDecide(inside, tx, order, 'provisioning');
    case 'provisioning': {
      const step = await firstPending(tx, order.id, ['domain', 'mailbox']);
      if (step) return { kind: 'step', state, step: step.step, where: stepLabel(step) };
      return moveAndDecide(inside, tx, order, 'configuring');
    }
    case 'configuring': {
      const step = await firstPending(tx, order.id, ['dns', 'warmup']);
      if (step) return { kind: 'step', state, step: step.step, where: stepLabel(step) };
      await connectMailboxes(inside, tx, order);
      await settleHolds(tx, order.id);
      return moveAndDecide(inside, tx, order, 'ready');
    }
    case 'ready':
      return { kind: 'done', state, where: 'ready' };
    case 'failed':
    case 'cancelled':
      return nextUndo(tx, order);
  }
}

/** Moves a locked order to the next state, and returns the workflow's next action. */
async function moveAndDecide(inside: Ctx, tx: Tx, order: OrderRow, to: OrderRow['state']): Promise<OrderDecision> {
  const moved = await moveOrder(tx, order.id, [order.state], to);
  return decide(inside, tx, moved!);
}

async function awaitPayment(tx: Tx, order: OrderRow): Promise<OrderDecision> {
  const { state, pay_by: payBy } = order;
  if (payBy <= tx.now) return { kind: 'close', state, where: 'the time to pay is over' };
  const payment = await tx.org.table('payments').where({ id: order.payment_id! }).first('checkout_url');
  if (!payment?.checkout_url) return { kind: 'checkout', state, where: 'making the checkout' };
  return { kind: 'wait', state, until: payBy.getTime(), where: 'waiting for the payment' };
}

/**
 * Returns the next part of an ended order that must be undone. First the checkout is closed, then the steps are undone
 * in reverse order, and finally the subscription is ended.
 */
async function nextUndo(tx: Tx, order: OrderRow): Promise<OrderDecision> {
  const { state } = order;
  const payment = order.payment_id
    ? await tx.org
        .table('payments')
        .where({ id: order.payment_id })
        .first('state', 'provider_subscription_id', 'subscription_ended_at')
    : undefined;
  if (payment?.state === 'open') return { kind: 'close', state, where: 'closing the checkout' };
  const steps = await readSteps(tx.org, order.id);
  const step = steps.findLast(needsUndo);
  if (step) return { kind: 'undo', state, step: step.step, where: `undoing ${stepLabel(step)}` };
  // Ends the subscription also after a refund, because a refund that a person makes at the provider does not end it.
  const isSettled = payment?.state === 'paid' || payment?.state === 'refunded';
  if (isSettled && payment.provider_subscription_id && !payment.subscription_ended_at)
    return { kind: 'close', state, where: 'ending the subscription' };
  await settle(tx, order);
  const left = steps.filter((one) => one.state === 'needs_person').length;
  return { kind: 'done', state, where: left > 0 ? `${state}, ${left} steps need a person` : state };
}

/**
 * Returns true for a step whose call may have had an effect and must therefore be undone. A refused call had no effect,
 * but an earlier attempt without a response may have had one.
 */
function needsUndo({ state, attempts }: StepRow): boolean {
  return state === 'running' || state === 'done' || state === 'compensating' || (state === 'failed' && attempts > 1);
}

/**
 * Marks an ended order as completely undone. Addresses that were never created, or that were deleted at the provider,
 * can be ordered again.
 */
async function settle(tx: Tx, order: OrderRow): Promise<void> {
  await tx.org.sql(
    `update order_mailboxes m set retired_at = coalesce(retired_at, :now), credentials = null
     where m.organization_id = :org and m.order_id = :order
       and not exists (select from order_steps s where s.order_id = m.order_id and s.step = 'mailbox:' || m.position and s.state = 'needs_person')`,
    { order: order.id, now: tx.now },
  );
  await tx.org.table('mailbox_orders').where({ id: order.id }).update({ under_way: false, updated_at: tx.now });
}

async function firstPending(tx: Tx, orderId: string, kinds: readonly string[]): Promise<StepRow | undefined> {
  const steps = await readSteps(tx.org, orderId);
  return steps.find(
    ({ step, state }) => kinds.includes(parseStep(step).kind) && (state === 'pending' || state === 'running'),
  );
}

/** Describes a step for operators, by its kind and without the domain. */
function stepLabel({ step }: StepRow): string {
  const { kind } = parseStep(step);
  return { domain: 'registering a domain', dns: 'setting DNS', mailbox: 'creating a mailbox', warmup: 'warmup' }[kind];
}
