import type { Row } from '../../../db/rows.ts';
import { DAY_MS } from '../../../lib/clock.ts';

/** One cycle of a managed domain: the registration that ends, and its renewal. */
export type RenewalRow = Row<'domain_renewals'>;
export type RenewalState = RenewalRow['state'];
export type ManagedDomain = Row<'managed_domains'>;

/** Why a renewal needs a person. */
export type RenewalCode =
  | 'renewal_not_eligible'
  | 'renewal_payment_required'
  | 'renewal_request_failed'
  | 'renewal_refused'
  | 'renewal_failed';

/** States of a cycle that has not ended. */
export const OPEN_RENEWAL = ['scheduled', 'charging', 'renewing', 'requires_action'] as const;
/** So long (ms) before the registration ends it is renewed. */
export const RENEW_AHEAD_MS = 30 * DAY_MS;
/** So long (ms) after the registration has ended it can still be renewed: registrars keep a domain for its holder about so long. */
export const GRACE_MS = 30 * DAY_MS;
/** How often (ms) a renewal that waits for something is looked at. */
export const LOOK_AGAIN_MS = DAY_MS;
/** So long (ms) a provider may not answer until a person is needed. */
export const GIVE_UP_MS = 3 * DAY_MS;

/** What is charged for a renewal that costs so much, in cents: the cost, a share of it and a fixed sum for the processing. */
export function priceOf(
  costCents: number,
  config: { PAYMENT_PROCESSING_BASIS_POINTS: number; PAYMENT_PROCESSING_FIXED_CENTS: number },
): { processingCents: number; amountCents: number } {
  const share = Math.ceil((costCents * config.PAYMENT_PROCESSING_BASIS_POINTS) / 10_000);
  const processingCents = share + config.PAYMENT_PROCESSING_FIXED_CENTS;
  return { processingCents, amountCents: costCents + processingCents };
}
