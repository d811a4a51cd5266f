import type { Actor } from '../../domain/platform/kernel/actor.ts';
import { tooManyRequests } from '../../lib/errors.ts';
import { message } from '../../messages/index.ts';

/** Maximum number of open requests of one credential in a process. */
const MAX_UNDER_WAY = 128;
/** Wait (ms) that a refused request gets as Retry-After. */
const RETRY_AFTER_MS = 1_000;

/** Counts the open requests of each credential in this process. */
export class RequestsUnderWay {
  readonly #counts = new Map<string, number>();

  /**
   * Counts a request of a credential as open. Requests without a credential are not counted.
   * @returns the function that ends it
   * @throws AppError rate_limit_exceeded while the credential has {@link MAX_UNDER_WAY} other open requests
   */
  begin({ apiKeyId, oauthGrantId, sessionId }: Actor): () => void {
    const credential = apiKeyId ?? oauthGrantId ?? sessionId;
    if (!credential) return () => {};
    const count = this.#counts.get(credential) ?? 0;
    if (count >= MAX_UNDER_WAY) throw tooManyRequests(RETRY_AFTER_MS, message('request.limit_under_way'));
    this.#counts.set(credential, count + 1);
    return () => {
      const left = this.#counts.get(credential)! - 1;
      if (left > 0) this.#counts.set(credential, left);
      else this.#counts.delete(credential);
    };
  }
}
