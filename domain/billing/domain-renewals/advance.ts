import type { RenewalReport } from '../../../workflows/domain-renewal/contract.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { failOrdersWithoutDomain } from '../mailbox-orders/ended-domain.ts';
import { settleHoldsOfDomain } from '../mailbox-orders/hold.ts';
import { newId } from '../../../lib/ids.ts';
import { expireCheckout } from '../payments/checkout.ts';
import { lockPayment } from '../payments/move.ts';
import { requestRefund } from '../payments/request-refund.ts';
import { chargeCycle, keepCheckoutOpen } from './charge.ts';
import { moveRenewal } from './move.ts';
import { priceCycle } from './price.ts';
import { renewDomain } from './renew.ts';
import { recheckLater, stepUnderClaim, type Cycle } from './cycle.ts';
import { GRACE_MS, OPEN_RENEWAL, RENEW_AHEAD_MS } from './states.ts';

/**
 * Executes the next steps of a domain's renewal, and returns when to continue. About a month before the registration
 * ends, the renewal is priced, charged and executed. If the registration ends without a renewal, the domain's mailboxes
 * are held. A renewal within another month releases them. After that month, or once the domain is released, there is
 * nothing left to do.
 * @throws Error if Heron itself fails; if a provider refuses or does not respond, this is stored in the cycle
 */
export async function advanceRenewal(ctx: Ctx, domainId: string): Promise<RenewalReport> {
  const cycle = await transact(ctx, (tx) => openCycle(tx, domainId));
  if (!cycle) {
    await closePayments(ctx, domainId);
    return { kind: 'done', outcome: 'released' };
  }
  const now = ctx.clock.now().getTime();
  const { renewal } = cycle;
  if (renewal.state === 'ended' || renewal.state === 'renewed') return { kind: 'done', outcome: 'lapsed' };
  if (renewal.state === 'scheduled' && renewal.renew_at.getTime() > now)
    return { kind: 'wait', state: 'scheduled', until: renewal.renew_at.getTime(), where: 'until the renewal' };
  const overMs = renewal.state === 'renewing' ? -1 : now - renewal.expires_at.getTime();
  if (overMs >= 0 && cycle.domain.state === 'active') await transact(ctx, (tx) => markLapsed(tx, cycle));
  const report = await stepUnderClaim(ctx, cycle, () =>
    overMs >= GRACE_MS ? endLostCycle(ctx, cycle) : step(ctx, cycle),
  );
  if (report) return report;
  // Executes the next step immediately, because the cycle has advanced.
  return advanceRenewal(ctx, domainId);
}

/** Executes the current step. Returns undefined when the cycle has advanced. */
async function step(ctx: Ctx, cycle: Cycle): Promise<RenewalReport | undefined> {
  switch (cycle.renewal.state) {
    case 'scheduled':
      return priceCycle(ctx, cycle);
    case 'charging':
      return chargeCycle(ctx, cycle);
    case 'renewing':
      return renewDomain(ctx, cycle);
    default:
      return awaitPerson(ctx, cycle);
  }
}

/**
 * Repeats the step that needed a person. The person may have acted in the meantime, which Heron cannot always detect.
 */
async function awaitPerson(ctx: Ctx, cycle: Cycle): Promise<RenewalReport | undefined> {
  switch (cycle.renewal.error?.code) {
    case 'renewal_payment_required':
      return keepCheckoutOpen(ctx, cycle);
    case 'renewal_not_eligible':
    case 'renewal_request_failed':
      return priceCycle(ctx, cycle);
    case 'renewal_failed':
      return renewDomain(ctx, cycle);
    default:
      return recheckLater(ctx, cycle, 'a person has to settle it with the provider');
  }
}

/** Returns the cycle for the domain's current registration, and creates the cycle if there is none. */
async function openCycle(tx: Tx, domainId: string): Promise<Cycle | undefined> {
  const domain = await tx.org.table('managed_domains').where({ id: domainId }).first();
  if (!domain || domain.state === 'released') {
    for (const id of await tx.org
      .table('domain_renewals')
      .where({ domain_id: domainId })
      .whereIn('state', OPEN_RENEWAL)
      .pluck('id')) {
      const ended = await moveRenewal(tx, id, OPEN_RENEWAL, 'ended');
      if (ended?.payment_id) await requestRefund(tx, ended.payment_id, 'domain_released');
    }
    return undefined;
  }
  await tx.org
    .insert('domain_renewals', {
      id: newId(),
      domain_id: domainId,
      expires_at: domain.expires_at,
      renew_at: new Date(domain.expires_at.getTime() - RENEW_AHEAD_MS),
      created_at: tx.now,
      updated_at: tx.now,
    })
    .onConflict(['domain_id', 'expires_at'])
    .ignore();
  const renewal = await tx.org
    .table('domain_renewals')
    .where({ domain_id: domainId, expires_at: domain.expires_at })
    .first();
  return { domain, renewal: renewal! };
}

/**
 * Closes the unpaid payments of a domain whose renewal cycles have ended. If a charge still succeeds later, it is
 * refunded.
 */
async function closePayments(ctx: Ctx, domainId: string): Promise<void> {
  const open = await reader(ctx).sql<{ id: string }>(
    `select p.id from domain_renewals r join payments p on p.id = r.payment_id
     where r.organization_id = :org and r.domain_id = :domain and p.organization_id = :org and p.state = 'open'`,
    { domain: domainId },
  );
  for (const { id } of open) await expireCheckout(ctx, id);
}

/** Marks a domain as lapsed and holds its mailboxes, because its registration has ended without a renewal. */
async function markLapsed(tx: Tx, { domain }: Cycle): Promise<void> {
  const lapsed = await tx.org
    .table('managed_domains')
    .where({ id: domain.id, state: 'active', expires_at: domain.expires_at })
    .update({ state: 'lapsed' });
  if (lapsed === 0) return;
  await settleHoldsOfDomain(tx, domain.domain);
  tx.audit({
    action: 'update',
    entityType: 'managed_domain',
    entityId: domain.id,
    changes: { state: { from: 'active', to: 'lapsed' } },
  });
}

/**
 * Ends the renewal cycle of a domain that can no longer be renewed. Refunds a payment for the renewal, and ends the
 * orders that have no other domain.
 */
async function endLostCycle(ctx: Ctx, { domain, renewal }: Cycle): Promise<RenewalReport | undefined> {
  // Closes the checkout page, so that no further payment is possible. A payment that was made just before is still
  // processed.
  if (renewal.payment_id && (await expireCheckout(ctx, renewal.payment_id)) === 'open')
    return recheckLater(ctx, { domain, renewal }, 'a payment is under way', 60_000);
  const isGone = await transact(ctx, async (tx) => {
    if (renewal.payment_id) await lockPayment(tx, renewal.payment_id);
    const ended = await moveRenewal(tx, renewal.id, ['scheduled', 'charging', 'requires_action'], 'ended');
    if (!ended) return false;
    if (ended.payment_id) await requestRefund(tx, ended.payment_id, 'domain_lapsed');
    await failOrdersWithoutDomain(tx, domain.domain);
    return true;
  });
  return isGone ? { kind: 'done', outcome: 'lapsed' } : undefined;
}
