import type { Db, Trx } from './connection.ts';
import { isToRepeat } from './errors.ts';
import { knexOf } from './raw.ts';
import { runStatement } from './statement.ts';

const MAX_TRIES = 4;

/**
 * Runs work in its own transaction. Writers take their locks in a common order, but some do not know beforehand which
 * locks they need. If two writers deadlock, PostgreSQL rolls one of them back. Its work is then repeated from the
 * beginning, at most three times. Work that throws `ChangedMeanwhile` is repeated in the same way.
 */
export async function inTransaction<T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await knexOf(db).transaction(work);
    } catch (error) {
      if (tries === MAX_TRIES || !isToRepeat(error)) throw error;
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
  // The savepoint is sent together with the first statement of the work, and fails only if that statement fails too.
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
 * Runs reads in one transaction that cannot write, with a time limit (ms) for each statement. For the error of a
 * statement that exceeds the limit, {@link isOverTime} returns true.
 */
export function inReadOnly<T>(db: Db, statementMs: number, work: (trx: Trx) => Promise<T>): Promise<T> {
  return knexOf(db).transaction(
    (trx) => {
      // The setting is sent together with the first statement of the work, and fails only if that statement fails too.
      runStatement(trx, `select set_config('statement_timeout', :ms::text, true)`, { ms: String(statementMs) }).catch(
        () => undefined,
      );
      return work(trx);
    },
    { readOnly: true },
  );
}

/**
 * Runs reads in one snapshot of the database. When the signal aborts, the running statement is cancelled, and the work
 * ends with PostgreSQL's error.
 * @param options.statementMs time limit (ms) of each statement
 */
export function inSnapshot<T>(
  db: Db,
  { signal, statementMs }: { signal: AbortSignal; statementMs: number },
  work: (trx: Trx) => Promise<T>,
): Promise<T> {
  const pool = knexOf(db);
  return pool.transaction(
    async (trx) => {
      const { rows } = (await trx.raw(`select pg_backend_pid() as pid, set_config('statement_timeout', ?, true)`, [
        String(statementMs),
      ])) as { rows: [{ pid: number }] };
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
        // Waits for the cancellation. Otherwise it could cancel a later statement on the same connection.
        await cancelled;
      }
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}
