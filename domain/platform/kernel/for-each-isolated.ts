import { isDatabaseUnavailable } from '../../../db/errors.ts';
import type { Deps } from './context.ts';

/**
 * Calls `work` for each of many rows of all workspaces, one after the other. A failure does not stop the others.
 * @param items ids and kinds, which are logged on failure
 * @throws AggregateError after the last item if some failed; the error of an unreachable database immediately
 */
export async function forEachIsolated<Item>(
  { log }: Pick<Deps, 'log'>,
  items: Iterable<Item> | AsyncIterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  let tried = 0;
  for await (const item of items) {
    tried += 1;
    try {
      await work(item);
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      log.warn({ err: error, item }, 'one of many rows failed; the others have their turn');
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} of ${tried} failed`);
}
