import type { Handle } from './connection.ts';
import type { Notifier } from './notifier.ts';
import { knexOf } from './raw.ts';

/**
 * Wakes the listeners of a channel after the commit of an open transaction, or at once without one. A commit with a
 * notification holds one lock of the whole cluster until it is on disk, so such commits would wait for each other.
 * Listeners also query at intervals, because a notification may be lost. A rolled back transaction wakes them too,
 * because a commit whose answer was lost looks the same.
 */
export function notifyAfterCommit(handle: Handle, channel: string): void {
  const { notifier } = handle.userParams as { notifier: Notifier };
  const notify = () => notifier.notify(channel);
  const knex = knexOf(handle);
  if (!knex.isTransaction) return notify();
  void (knex as unknown as { executionPromise: Promise<unknown> }).executionPromise.then(notify, notify);
}
