import { HOUR_MS } from '../../../lib/clock.ts';
import { AppError } from '../../../lib/errors.ts';
import type { RenewalReport } from '../../../workflows/domain-renewal/contract.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { mailboxProvider } from '../mailbox-orders/http-provider.ts';
import { settleHoldsOfDomain } from '../mailbox-orders/hold.ts';
import { ProviderRefusal, ProviderUnreachable, type RenewedDomain } from '../mailbox-orders/ports.ts';
import { requestRefund } from '../payments/request-refund.ts';
import { recheckLater, recordPersonNeeded, type Cycle } from './cycle.ts';
import { moveRenewal, requireAction } from './move.ts';
import { UNANSWERED_AFTER_MS } from './states.ts';

/**
 * Renews a domain whose renewal is paid, for at most the charged cost. Uses the same idempotency key on every attempt
 * for this payment. If the provider refuses, the payment is refunded. If it does not respond for days, a person is
 * notified, and the attempts continue.
 */
export async function renewDomain(ctx: Ctx, cycle: Cycle): Promise<RenewalReport> {
  const { domain, renewal } = cycle;
  let renewed: RenewedDomain;
  try {
    renewed = await mailboxProvider(ctx).renewDomain(`${domain.id}/renewal:${renewal.payment_id}`, {
      ref: domain.provider_ref,
      domain: domain.domain,
      maxCents: renewal.cost_cents!,
    });
  } catch (error) {
    if (error instanceof ProviderRefusal) return refused(ctx, cycle, error);
    if (!(error instanceof ProviderUnreachable || error instanceof AppError)) throw error;
    return unanswered(ctx, cycle);
  }
  if (renewed.expiresAt <= domain.expires_at) return unanswered(ctx, cycle);
  await transact(ctx, async (tx) => {
    const moved = await moveRenewal(tx, renewal.id, ['renewing', 'requires_action'], 'renewed', { renewed_at: tx.now });
    if (!moved) return;
    // Sets a lapsed domain to active again and releases its mailboxes.
    await tx.org
      .table('managed_domains')
      .where({ id: domain.id })
      .whereIn('state', ['active', 'lapsed'])
      .update({ state: 'active', expires_at: renewed.expiresAt });
    await settleHoldsOfDomain(tx, domain.domain);
  });
  return { kind: 'renewed' };
}

async function refused(ctx: Ctx, cycle: Cycle, { code }: ProviderRefusal): Promise<RenewalReport> {
  const { renewal } = cycle;
  await transact(ctx, async (tx) => {
    await requestRefund(tx, renewal.payment_id!, 'renewal_refused');
    await requireAction(tx, renewal, 'renewal_refused', { detail: code });
  });
  return recheckLater(ctx, { ...cycle, renewal: { ...renewal, state: 'requires_action' } }, 'the provider refused');
}

async function unanswered(ctx: Ctx, cycle: Cycle): Promise<RenewalReport> {
  const { renewal } = cycle;
  if (renewal.state === 'renewing' && ctx.clock.now().getTime() - renewal.updated_at.getTime() > UNANSWERED_AFTER_MS)
    return recordPersonNeeded(ctx, cycle, 'renewal_failed');
  return recheckLater(ctx, cycle, 'the provider does not answer', HOUR_MS);
}
