import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseUnavailable } from '../../../db/errors.ts';
import type { Deps } from './context.ts';

const RETRY_MS = 500;

/**
 * Retries a write while the database is unreachable. Use it for facts that only this process knows, such as a mail
 * server's answer. Without that answer an email could be sent twice or become uncertain.
 * @param write must be safe to repeat, because its result may be lost after the commit
 * @param options.forMs how long (ms) to retry
 * @param options.after returns true for errors to retry after; by default those of an unreachable database
 * @throws the error of the last attempt
 */
export async function retryUntilStored<T>(
  { log }: Pick<Deps, 'log'>,
  write: () => Promise<T>,
  { forMs, after = isDatabaseUnavailable }: { forMs: number; after?: (error: unknown) => boolean },
): Promise<T> {
  const endsAt = performance.now() + forMs;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!after(error) || performance.now() > endsAt) throw error;
      log.warn({ err: error }, 'what another system has answered could not be stored yet');
      await sleep(RETRY_MS);
    }
  }
}
