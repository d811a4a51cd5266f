import { json } from '../../../db/connection.ts';
import { newId } from '../../../lib/ids.ts';
import { SEAL_PLACES } from '../../../lib/seal-places.ts';
import { start } from '../../../temporal/dispatch.ts';
import { domainRenewalWorkflow } from '../../../workflows/domain-renewal/contract.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { failOrder } from './end.ts';
import { mailboxProvider } from './http-provider.ts';
import { lockOrder, lockWithPayments } from './move.ts';
import { ProviderRefusal, ProviderUnreachable, type CreatedMailbox, type RegisteredDomain } from './ports.ts';
import type { ProvidedPasswords } from './ready.ts';
import { parseStep, stepKey, WORKING, type OrderRow, type StepRow } from './states.ts';
import { claimStep, readStep, releaseStep } from './steps.ts';
import { CALL_RECHECK_MS } from '../../platform/kernel/call-claim.ts';
import type { Config } from '../../../lib/config/index.ts';
import { message } from '../../../messages/index.ts';
import type { StoredIssue } from '../../../db/json-columns.ts';

/** Result of a step. `retry`: there was no response yet, and the same call must be repeated after `inMs` (ms). */
export type StepOutcome = { outcome: 'done' | 'skipped' | 'failed' } | { outcome: 'retry'; inMs: number };

/**
 * Performs one step of an order at the provider, unless the order has ended. The state `running` is committed before
 * the call. If the order fails, the call is therefore undone even if it got no response. Every attempt uses the step's
 * idempotency key, and waits while another attempt's call is in progress. The order fails if the provider refuses, or
 * does not respond for PROVISIONING_GIVE_UP_MS.
 */
export async function performOrderStep(ctx: Ctx, orderId: string, step: string): Promise<StepOutcome> {
  const begun = await transact(ctx, (tx) => begin(tx, orderId, step, ctx.config));
  if (!begun) return { outcome: 'skipped' };
  if (begun === 'under_way') return { outcome: 'retry', inMs: CALL_RECHECK_MS };
  try {
    const record = await call(ctx, begun.order, step);
    await transact(ctx, async (tx) => {
      await lockOrder(tx, orderId);
      await record(tx);
    });
    return { outcome: 'done' };
  } catch (error) {
    if (error instanceof ProviderRefusal) {
      await refuse(ctx, orderId, step, error);
      return { outcome: 'failed' };
    }
    if (error instanceof ProviderUnreachable) return failOrRetry(ctx, orderId, begun.row, error);
    throw error;
  }
}

/**
 * Returns the delay (ms) before the same call is repeated. This is the value that the provider named. Otherwise it is
 * one second, doubled per attempt up to a minute.
 */
export function retryInMs(attempts: number, { retryInMs: asked }: ProviderUnreachable): number {
  return asked ?? Math.min(1_000 * 2 ** Math.min(attempts - 1, 6), 60_000);
}

/** Locks the order and marks a step as running. Starts no step after a cancellation. */
async function begin(
  tx: Tx,
  orderId: string,
  step: string,
  config: Config,
): Promise<{ order: OrderRow; row: StepRow } | 'under_way' | undefined> {
  const order = await lockOrder(tx, orderId);
  if (!WORKING.includes(order.state)) return undefined;
  const row = await claimStep(tx, orderId, step, config, {
    from: ['pending', 'running'],
    to: `state = 'running', started_at = coalesce(started_at, :now)`,
  });
  return row === undefined || row === 'under_way' ? row : { order, row };
}

/** Calls the provider, and returns a function that stores its answer. */
async function call(ctx: Ctx, order: OrderRow, key: string): Promise<(tx: Tx) => Promise<void>> {
  const provider = mailboxProvider(ctx);
  const { kind, index } = parseStep(key);
  const once = stepKey(order.id, key);
  switch (kind) {
    case 'domain': {
      const { domain } = order.domains[index]!;
      const registered = await provider.registerDomain(once, domain);
      return (tx) => storeDomain(tx, order, key, domain, registered);
    }
    case 'mailbox': {
      const { email, domain, first_name, last_name } = await mailboxOf(ctx, order.id, index);
      const names = { firstName: first_name, lastName: last_name };
      const created = await provider.createMailbox(once, { provider: order.provider, domain, email, ...names });
      return (tx) => storeMailbox(ctx, tx, order, key, index, created);
    }
    case 'dns': {
      const { status } = await provider.setDns(once, order.domains[index]!.domain);
      return async (tx) => void (await finish(tx, order.id, key, null, status));
    }
    case 'warmup': {
      const created = await transact(ctx, (tx) => readStep(tx.org, order.id, `mailbox:${index}`));
      const { status } = await provider.switchWarmup(once, { ref: created!.provider_ref!, enabled: true });
      return async (tx) => {
        if (await finish(tx, order.id, key, null, status))
          await patchMailbox(tx, order.id, index, { warmup_external_status: status });
      };
    }
  }
}

/**
 * Marks a step as done. Changes nothing if the step was undone during a slow attempt, because the undo also reverses
 * that attempt.
 */
async function finish(tx: Tx, orderId: string, step: string, ref: string | null, detail: string): Promise<boolean> {
  const done = await tx.org
    .table('order_steps')
    .where({ order_id: orderId, step, state: 'running' })
    .update({ state: 'done', provider_ref: ref, detail, completed_at: tx.now, call_until: null });
  return done > 0;
}

async function storeDomain(
  tx: Tx,
  order: OrderRow,
  step: string,
  domain: string,
  made: RegisteredDomain,
): Promise<void> {
  if (!(await finish(tx, order.id, step, made.ref, 'registered'))) return;
  const domainId = newId();
  await tx.org.insert('managed_domains', {
    id: domainId,
    domain,
    order_id: order.id,
    provider_ref: made.ref,
    state: 'active',
    registered_at: made.registeredAt,
    expires_at: made.expiresAt,
  });
  tx.intend(start(domainRenewalWorkflow, { organizationId: tx.org.organizationId, domainId }));
}

async function storeMailbox(
  { keyring }: Ctx,
  tx: Tx,
  { id: orderId }: OrderRow,
  step: string,
  position: number,
  { ref, status, smtp, imap }: CreatedMailbox,
): Promise<void> {
  if (!(await finish(tx, orderId, step, ref, status))) return;
  const passwords: ProvidedPasswords = { smtp: smtp.password, imap: imap.password };
  const withoutPassword = ({ host, port, username, security }: typeof smtp) => ({ host, port, username, security });
  await patchMailbox(tx, orderId, position, {
    external_status: status,
    smtp: json(withoutPassword(smtp)),
    imap: json(withoutPassword(imap)),
    credentials: keyring.seal(JSON.stringify(passwords), SEAL_PLACES.orderMailbox(orderId, position)),
  });
}

async function patchMailbox(tx: Tx, orderId: string, position: number, patch: object): Promise<void> {
  await tx.org.table('order_mailboxes').where({ order_id: orderId, position }).update(patch);
}

async function mailboxOf(ctx: Ctx, orderId: string, position: number) {
  const row = await transact(ctx, (tx) =>
    tx.org.table('order_mailboxes').where({ order_id: orderId, position }).first(),
  );
  if (!row) throw new Error('the order has no such mailbox');
  return row;
}

/** Fails the order after the provider refused a step permanently. */
async function refuse(ctx: Ctx, orderId: string, step: string, { code }: ProviderRefusal): Promise<void> {
  await transact(ctx, async (tx) => {
    await lockWithPayments(tx, orderId);
    await tx.org
      .table('order_steps')
      .where({ order_id: orderId, step, state: 'running' })
      .update({ state: 'failed', detail: code, completed_at: tx.now, call_until: null });
    await failOrder(tx, orderId, WORKING, refusalOf(code));
  });
}

function refusalOf(code: string): StoredIssue {
  const fix = message('order.refused.fix');
  if (code === 'domain_unavailable') return { code, message: message('order.domain_taken'), fix };
  return { code: 'mailbox_provisioning_failed', message: message('order.refused', { code }), fix };
}

async function failOrRetry(ctx: Ctx, orderId: string, row: StepRow, error: ProviderUnreachable): Promise<StepOutcome> {
  const until = row.started_at!.getTime() + ctx.config.PROVISIONING_GIVE_UP_MS;
  await releaseStep(ctx, row);
  if (ctx.clock.now().getTime() < until) return { outcome: 'retry', inMs: retryInMs(row.attempts, error) };
  // Leaves the step in state running, because its result is unknown. It is therefore undone later.
  await transact(ctx, (tx) =>
    failOrder(tx, orderId, WORKING, {
      code: 'mailbox_provisioning_failed',
      message: message('order.provider_gone'),
      fix: message('order.provider_gone.fix'),
    }),
  );
  return { outcome: 'failed' };
}
