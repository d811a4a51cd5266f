import { signal, signalOpen } from '../../../temporal/dispatch.ts';
import { domainRenewalWorkflow } from '../../../workflows/domain-renewal/contract.ts';
import { mailboxOrderWorkflow, type MailboxOrderSignals } from '../../../workflows/mailbox-order/contract.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { removeMailbox } from '../../mailboxes/update.ts';
import { addDeadLetter, dropDeadLetter, UNDO_OF_ORDER } from '../../platform/dead-letters.ts';
import { mailboxProvider } from './http-provider.ts';
import { lockOrder } from './move.ts';
import { retryInMs, type StepOutcome } from './perform.ts';
import { ProviderRefusal, ProviderUnreachable } from './ports.ts';
import { hasEnded, parseStep, stepKey, undoKey, type StepRow } from './states.ts';
import { claimStep, readSteps, releaseStep } from './steps.ts';
import { CALL_RECHECK_MS } from '../../platform/kernel/call-claim.ts';
import { message } from '../../../messages/index.ts';

/**
 * Undoes one step of a failed or cancelled order. A mailbox is removed from Heron and deleted at the provider, and a
 * domain is released. DNS records and warmup need no undo. The undo identifies the original call by its idempotency
 * key, so it works even if that call got no response. If the provider refuses, or does not respond for
 * PROVISIONING_GIVE_UP_MS, a person is needed and is notified.
 */
export async function undoOrderStep(ctx: Ctx, orderId: string, step: string): Promise<StepOutcome> {
  const row = await transact(ctx, (tx) => begin(ctx, tx, orderId, step));
  if (!row) return { outcome: 'skipped' };
  if (row === 'under_way') return { outcome: 'retry', inMs: CALL_RECHECK_MS };
  try {
    const undone = await call(ctx, row);
    await transact(ctx, (tx) => (undone ? finish(tx, row) : keepDomain(tx, row)));
    return { outcome: 'done' };
  } catch (error) {
    if (error instanceof ProviderRefusal) return recordPersonNeeded(ctx, row, error.code);
    if (!(error instanceof ProviderUnreachable)) throw error;
    await releaseStep(ctx, row);
    const until = row.undo_started_at!.getTime() + ctx.config.PROVISIONING_GIVE_UP_MS;
    if (ctx.clock.now().getTime() < until) return { outcome: 'retry', inMs: retryInMs(row.attempts, error) };
    return recordPersonNeeded(ctx, row, 'mailbox_provisioning_failed');
  }
}

/**
 * Retries the undo of an order's steps that need a person, at that person's request.
 * @returns false if no step needs a person
 */
export async function retryUndo(
  tx: Tx,
  orderId: string,
  cause: MailboxOrderSignals['retry']['cause'],
): Promise<boolean> {
  const rows = await tx.org.sql(
    `update order_steps set state = 'compensating', undo_started_at = :now
     where organization_id = :org and order_id = :order and state = 'needs_person' returning step`,
    { order: orderId, now: tx.now },
  );
  if (rows.length === 0) return false;
  await tx.org.table('mailbox_orders').where({ id: orderId }).update({ under_way: true, updated_at: tx.now });
  const args = { organizationId: tx.org.organizationId, orderId };
  tx.intend(signal(mailboxOrderWorkflow, args, 'retry', { cause }));
  return true;
}

async function begin(ctx: Ctx, tx: Tx, orderId: string, step: string): Promise<StepRow | 'under_way' | undefined> {
  const order = await lockOrder(tx, orderId);
  if (!hasEnded(order.state)) return undefined;
  const row = await claimStep(tx, orderId, step, ctx.config, {
    from: ['running', 'done', 'compensating', 'failed'],
    to: `state = 'compensating', undo_started_at = coalesce(undo_started_at, :now)`,
  });
  if (row === undefined || row === 'under_way') return row;
  const made = parseStep(step);
  if (made.kind === 'mailbox') await disconnect({ ...ctx, trx: tx.trx }, tx, orderId, made.index);
  return row;
}

/**
 * Removes a mailbox from Heron before the provider deletes it. Does nothing if a person has already removed the
 * mailbox.
 */
async function disconnect(inside: Ctx, tx: Tx, orderId: string, position: number): Promise<void> {
  const row = await tx.org.table('order_mailboxes').where({ order_id: orderId, position }).first('mailbox_id');
  if (row?.mailbox_id) await removeMailbox(inside, row.mailbox_id);
}

/**
 * Calls the provider to undo a step.
 * @returns false if the step is not undone, because mailboxes of another order are on the domain
 */
async function call(ctx: Ctx, { order_id: orderId, step, provider_ref: ref }: StepRow): Promise<boolean> {
  const undo = { madeBy: stepKey(orderId, step), ref };
  const { kind, index } = parseStep(step);
  if (kind === 'mailbox') await mailboxProvider(ctx).retireMailbox(undoKey(orderId, step), undo);
  if (kind !== 'domain') return true;
  if (await isShared(ctx, orderId, index)) return false;
  await mailboxProvider(ctx).releaseDomain(undoKey(orderId, step), undo);
  return true;
}

/** Returns true if another order that has not ended has mailboxes on a domain that this order registered. */
async function isShared(ctx: Ctx, orderId: string, index: number): Promise<boolean> {
  const others = await reader(ctx).sql(
    `select m.order_id from mailbox_orders o
       join order_mailboxes m on m.organization_id = :org and m.domain = o.domains -> cast(:index as int) ->> 'domain' and m.order_id <> o.id
       join mailbox_orders other on other.id = m.order_id and other.state not in ('failed', 'cancelled')
     where o.organization_id = :org and o.id = :order limit 1`,
    { order: orderId, index },
  );
  return others.length > 0;
}

async function finish(tx: Tx, { order_id: orderId, step, provider_ref: ref }: StepRow): Promise<void> {
  const undone = await tx.org
    .table('order_steps')
    .where({ order_id: orderId, step, state: 'compensating' })
    .update({ state: 'compensated', undone_at: tx.now, call_until: null });
  if (undone === 0) return;
  const made = parseStep(step);
  if (made.kind === 'mailbox')
    await tx.org
      .table('order_mailboxes')
      .where({ order_id: orderId, position: made.index })
      .update({ retired_at: tx.now, external_status: 'retired', warmup_external_status: null, credentials: null });
  if (made.kind === 'domain' && ref !== null) await release(tx, orderId, ref);
  const left = (await readSteps(tx.org, orderId)).some(({ state }) => state === 'needs_person');
  if (!left) await dropDeadLetter(tx, UNDO_OF_ORDER, orderId);
}

/** Marks a domain as released, which ends its renewal workflow. */
async function release(tx: Tx, orderId: string, ref: string): Promise<void> {
  const released = await tx.org
    .table('managed_domains')
    .where({ order_id: orderId, provider_ref: ref })
    .whereIn('state', ['active', 'lapsed'])
    .update({ state: 'released', released_at: tx.now })
    .returning('id');
  for (const { id: domainId } of released) {
    const args = { organizationId: tx.org.organizationId, domainId };
    tx.intend(signalOpen(domainRenewalWorkflow, args, 'changed', { cause: 'released' }));
  }
}

/** Keeps a domain in the workspace, because mailboxes of other orders use it. */
async function keepDomain(tx: Tx, { order_id: orderId, step }: StepRow): Promise<void> {
  await tx.org
    .table('order_steps')
    .where({ order_id: orderId, step, state: 'compensating' })
    .update({ state: 'compensated', detail: 'kept', undone_at: tx.now, call_until: null });
}

/** Records that a step could not be undone: in the step's row, as a dead letter and as an event. */
async function recordPersonNeeded(
  ctx: Ctx,
  { order_id: orderId, step, attempts }: StepRow,
  code: string,
): Promise<StepOutcome> {
  await transact(ctx, async (tx) => {
    const changed = await tx.org
      .table('order_steps')
      .where({ order_id: orderId, step, state: 'compensating' })
      .update({ state: 'needs_person', detail: code, call_until: null });
    if (changed === 0) return;
    const steps = (await readSteps(tx.org, orderId)).filter(({ state }) => state === 'needs_person');
    await addDeadLetter(tx, {
      taskId: orderId,
      taskType: UNDO_OF_ORDER,
      payload: { order_id: orderId, steps: steps.map((one) => one.step).join(' ') },
      error: message('order.undo_failed', { code }),
      attempts,
      maxAttempts: 0,
      nextRetryAt: null,
    });
    tx.emit('mailbox_order.needs_person', { provisioning_id: orderId, step, reason: code });
    tx.audit({
      action: 'needs_person',
      entityType: 'mailbox_order',
      entityId: orderId,
      metadata: { step, reason: code },
    });
  });
  return { outcome: 'failed' };
}
