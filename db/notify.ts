import type { Handle } from './connection.ts';
import type { Notifier } from './notifier.ts';
import { knexOf } from './raw.ts';

/**
 * Notifies a channel after the commit of an open transaction, or at once without a transaction. The notification is
 * sent separately, because commits with a NOTIFY wait for each other in the whole cluster. Listeners also query at
 * intervals, because a notification may be lost. A rollback also notifies the channel, because it cannot be
 * distinguished from a commit whose answer was lost.
 */
export function notifyAfterCommit(handle: Handle, channel: string): void {
  const { notifier } = handle.userParams as { notifier: Notifier };
  const notify = () => notifier.notify(channel);
  const knex = knexOf(handle);
  if (!knex.isTransaction) return notify();
  void (knex as unknown as { executionPromise: Promise<unknown> }).executionPromise.then(notify, notify);
}
