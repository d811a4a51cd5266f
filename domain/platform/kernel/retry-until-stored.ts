import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseAway } from '../../../db/errors.ts';
import type { Deps } from './context.ts';

const AGAIN_MS = 500;

/**
 * Stores what only this process knows, such as what a server has answered: while the database is away it is tried again, because what was sent and
 * is not stored would be sent again, or doubted.
 * @param write safe to repeat: its answer may have been lost after it committed
 * @param options.forMs how long it is tried
 * @param options.after which failures it is tried again after; those of a database that cannot be reached unless said
 * @throws the failure of the last try
 */
export async function retryUntilStored<T>(
  { log }: Pick<Deps, 'log'>,
  write: () => Promise<T>,
  { forMs, after = isDatabaseAway }: { forMs: number; after?: (error: unknown) => boolean },
): Promise<T> {
  const endsAt = performance.now() + forMs;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!after(error) || performance.now() > endsAt) throw error;
      log.warn({ err: error }, 'what another system has answered could not be stored yet');
      await sleep(AGAIN_MS);
    }
  }
}
