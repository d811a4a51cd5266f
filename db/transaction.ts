import type { Db, Trx } from './connection.ts';
import { isDeadlock } from './errors.ts';
import { knexOf } from './raw.ts';

const DEADLOCK_TRIES = 4;

/**
 * Runs work in a transaction of its own. Writers take their locks in one order, but not all know beforehand what they
 * will need. Of two that deadlock, PostgreSQL rolls one back, and it runs again from its beginning.
 */
export async function inTransaction<T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await knexOf(db).transaction(work);
    } catch (error) {
      if (tries === DEADLOCK_TRIES || !isDeadlock(error)) throw error;
    }
  }
}

/**
 * Runs reads that all see the database of one moment. When the signal aborts, the statement that runs is cancelled, and the work ends with
 * PostgreSQL's error.
 */
export function inSnapshot<T>(db: Db, signal: AbortSignal, work: (trx: Trx) => Promise<T>): Promise<T> {
  const pool = knexOf(db);
  return pool.transaction(
    async (trx) => {
      const { rows } = (await trx.raw('select pg_backend_pid() as pid')) as { rows: [{ pid: number }] };
      let cancelled: Promise<unknown> | undefined;
      const cancel = () => {
        cancelled = pool.raw('select pg_cancel_backend(?)', [rows[0].pid]).then(undefined, () => undefined);
      };
      signal.addEventListener('abort', cancel, { once: true });
      try {
        signal.throwIfAborted();
        return await work(trx);
      } finally {
        signal.removeEventListener('abort', cancel);
        // The connection may serve another caller afterwards, who must not be cancelled.
        await cancelled;
      }
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}
