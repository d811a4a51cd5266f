/*
 * A claim of an outside call keeps a second attempt from repeating a call that is still in progress. Temporal repeats
 * an activity whose worker is silent, but a worker that was suspended for a while is not dead. The claim ends with the
 * stored answer, or once no attempt can still be alive. The end is a time of PostgreSQL's clock.
 */

/**
 * Time (ms) after the timeout of a call for which its attempt still counts as alive. It covers the start of the call
 * and the storing of the answer.
 */
const MARGIN_MS = 10_000;

/**
 * Maximum delay (ms) before checking again whether another attempt has ended. Usually the attempt has ended by then.
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
