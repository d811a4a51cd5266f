import type { Row } from '../../../db/rows.ts';
import { DAY_MS } from '../../../lib/clock.ts';

/** A renewal cycle: one registration period of a managed domain, and its renewal. */
export type RenewalRow = Row<'domain_renewals'>;
export type RenewalState = RenewalRow['state'];
export type ManagedDomain = Row<'managed_domains'>;

/** Codes for the reasons why a renewal needs a person. */
export type RenewalCode =
  | 'renewal_not_eligible'
  | 'renewal_payment_required'
  | 'renewal_request_failed'
  | 'renewal_refused'
  | 'renewal_failed';

/** States of a cycle that has not ended. */
export const OPEN_RENEWAL = ['scheduled', 'charging', 'renewing', 'requires_action'] as const;
/** Time (ms) before the end of the registration at which the renewal starts. */
export const RENEW_AHEAD_MS = 30 * DAY_MS;
/**
 * Time (ms) after the end of the registration during which renewal is still possible. Registrars usually reserve a
 * domain for its former holder for about this time.
 */
export const GRACE_MS = 30 * DAY_MS;
/** Interval (ms) at which a waiting renewal is checked. */
export const RECHECK_MS = DAY_MS;
/** Time (ms) after which a person is needed if the provider has not responded. */
export const UNANSWERED_AFTER_MS = 3 * DAY_MS;

/**
 * Returns the charge for a renewal, in cents: the cost plus the processing fee (a percentage of the cost and a fixed
 * amount).
 */
export function priceOf(
  costCents: number,
  config: { PAYMENT_PROCESSING_BASIS_POINTS: number; PAYMENT_PROCESSING_FIXED_CENTS: number },
): { processingCents: number; amountCents: number } {
  const share = Math.ceil((costCents * config.PAYMENT_PROCESSING_BASIS_POINTS) / 10_000);
  const processingCents = share + config.PAYMENT_PROCESSING_FIXED_CENTS;
  return { processingCents, amountCents: costCents + processingCents };
}
