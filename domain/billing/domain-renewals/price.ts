import { HOUR_MS } from '../../../lib/clock.ts';
import { AppError } from '../../../lib/errors.ts';
import type { RenewalReport } from '../../../workflows/domain-renewal/contract.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { mailboxProvider } from '../mailbox-orders/http-provider.ts';
import { ProviderRefusal, ProviderUnreachable, type DomainOffer } from '../mailbox-orders/ports.ts';
import { openPayment } from '../payments/open.ts';
import { recheckLater, recordPersonNeeded, orderInUse, type Cycle } from './cycle.ts';
import { moveRenewal } from './move.ts';
import { UNANSWERED_AFTER_MS, priceOf } from './states.ts';
import { message } from '../../../messages/index.ts';

/**
 * Requests the current price of another year from the provider, and opens a payment of the cost plus the processing
 * fee. A person is needed if the domain's order is unpaid or has ended, or if the provider refuses or cannot be reached
 * for days.
 * @returns undefined when the cycle must be charged now
 */
export async function priceCycle(ctx: Ctx, cycle: Cycle): Promise<RenewalReport | undefined> {
  const { domain, renewal } = cycle;
  if (!(await orderInUse(ctx, domain))) return recordPersonNeeded(ctx, cycle, 'renewal_not_eligible');
  let offer: DomainOffer;
  try {
    offer = await mailboxProvider(ctx).checkDomain(domain.domain);
  } catch (error) {
    if (error instanceof ProviderRefusal) return recordPersonNeeded(ctx, cycle, 'renewal_refused', error.code);
    if (!(error instanceof ProviderUnreachable || error instanceof AppError)) throw error;
    if (ctx.clock.now().getTime() - renewal.renew_at.getTime() > UNANSWERED_AFTER_MS)
      return recordPersonNeeded(ctx, cycle, 'renewal_request_failed');
    return recheckLater(ctx, cycle, 'the provider does not answer', HOUR_MS);
  }
  const { processingCents, amountCents } = priceOf(offer.renewalCents, ctx.config);
  await transact(ctx, async (tx) => {
    // Changes the state first, so that only one of two concurrent calls opens a payment.
    const priced = await moveRenewal(tx, renewal.id, [renewal.state], 'charging', {
      cost_cents: offer.renewalCents,
      processing_cents: processingCents,
      amount_cents: amountCents,
      currency: offer.currency.toLowerCase(),
      payment_id: null,
    });
    if (!priced) return;
    const payment = await openPayment(tx, {
      organizationId: tx.org.organizationId,
      subject: 'renewal',
      subjectId: renewal.id,
      amountCents,
      currency: offer.currency,
      lineItems: [
        {
          label: message('line.renewal', { domain: domain.domain }),
          quantity: 1,
          unit_cents: offer.renewalCents,
          interval: 'once',
        },
        { label: message('line.processing'), quantity: 1, unit_cents: processingCents, interval: 'once' },
      ],
    });
    await tx.org.table('domain_renewals').where({ id: renewal.id }).update({ payment_id: payment.id });
  });
  return undefined;
}
