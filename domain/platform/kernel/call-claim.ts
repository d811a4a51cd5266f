/**
 * A claim prevents a second attempt from repeating a call to another system while the first is still in progress.
 * Temporal retries an activity whose worker sends no heartbeat, but that worker may only have been suspended. The claim
 * ends when the response is stored, or once the first attempt can no longer be running. Its end is a time of
 * PostgreSQL's clock.
 */

/**
 * Time (ms) added to the timeout of a call in its claim. It covers the time before the call starts and the storing of
 * the response.
 */
const MARGIN_MS = 10_000;

/**
 * Maximum delay (ms) before checking again whether another attempt has ended. In most cases that attempt has ended by
 * then.
 */
export const CALL_RECHECK_MS = 2_000;

/** SQL assignment that claims the call of a row. `:claimMs` is bound to {@link callClaimMs}. */
export const CLAIM_CALL = `call_until = now() + :claimMs * interval '1 millisecond'`;

/** SQL condition that no other attempt's call for a row is in progress. */
export const CALL_IS_FREE = '(call_until > now()) is not true';

/** Returns the duration (ms) of the claim of a call that lasts at most `timeoutMs`. */
export function callClaimMs(timeoutMs: number): number {
  return timeoutMs + MARGIN_MS;
}
