import { withCostPath } from '../../../lib/cost-paths.ts';
import type { Decision, DeliverArgs } from '../../../workflows/enrollment/contract.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { deliverSend, type Delivery, type DeliverParts } from '../deliver.ts';
import { advanceEnrollment } from './advance.ts';
import type { EnrollmentKey } from './snapshot.ts';

/** Sends an email of a lead like {@link deliverSend}. Then decides the next step of the lead, whatever the result. */
export async function deliverToLead(
  ctx: Ctx,
  parts: DeliverParts,
  sendId: string,
  { mailboxId, ...lead }: NonNullable<DeliverArgs['lead']>,
): Promise<Delivery & { next?: Decision }> {
  const delivery = await deliverSend(ctx, parts, sendId, mailboxId);
  if ('retryAt' in delivery || 'retryInMs' in delivery) return delivery;
  const next = await decideNext(ctx, lead);
  return next ? { ...delivery, next } : delivery;
}

/**
 * Decides the next step of a lead after the result of its email is stored. Returns undefined on an error, because the
 * email's result is already stored. The workflow then requests the decision itself, with retries that a person can see.
 */
async function decideNext(ctx: Ctx, lead: EnrollmentKey): Promise<Decision | undefined> {
  try {
    return await withCostPath('advance', () => advanceEnrollment(ctx, lead));
  } catch (error) {
    ctx.log.warn({ err: error, lead }, 'the next step of a lead could not be decided after its email');
    return undefined;
  }
}
