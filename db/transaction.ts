import type { Db, Trx } from './connection.ts';
import { isDeadlock } from './errors.ts';
import { knexOf } from './raw.ts';

const DEADLOCK_TRIES = 4;

/**
 * Runs work in its own transaction. Writers take their locks in one order, but not all of them know the locks
 * beforehand. If two writers deadlock, PostgreSQL rolls one back. That transaction is repeated at most three times.
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
 * Runs work in a savepoint. If it throws, its writes are rolled back and the transaction can continue. Without a
 * savepoint a failed statement would end the transaction.
 * @throws the error of the work
 */
export async function inSavepoint<T>(trx: Trx, work: () => Promise<T>): Promise<T> {
  const connection = knexOf(trx);
  // Sent together with the first statement of the work, and fails only if that statement fails too.
  const opened = connection.raw('savepoint part').then(undefined, () => undefined);
  let result: T;
  try {
    result = await work();
  } catch (error) {
    await opened;
    await connection.raw('rollback to savepoint part');
    throw error;
  }
  await connection.raw('release savepoint part');
  return result;
}

/**
 * Runs reads in one snapshot of the database. When the signal aborts, the running statement is cancelled, and the work
 * ends with PostgreSQL's error.
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
        // Waits for the cancellation, which must not hit the connection's next user.
        await cancelled;
      }
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}
