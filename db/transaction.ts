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
