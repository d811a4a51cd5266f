import type { RawDb } from './database.ts';
import { eventually } from './eventually.ts';

/** Timeout (ms); the statement may come from a process that is still starting. */
const PATIENCE_MS = 110_000;
const OF_THIS_DATABASE = "datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()";

/** Waits until a number of statements wait for a lock of another transaction. `like` is a pattern of their text. */
export async function awaitLockWaits(db: RawDb, { count = 1, like = '%' } = {}): Promise<void> {
  await eventually(async () => {
    const waiting = db('pg_stat_activity').whereRaw(OF_THIS_DATABASE).where('wait_event_type', 'Lock');
    return (await waiting.whereLike('query', like).pluck('query')).length >= count;
  }, PATIENCE_MS);
}

/** Waits until a statement runs whose text has this beginning. */
export async function awaitStatement(db: RawDb, beginning: string): Promise<void> {
  const running = () => db('pg_stat_activity').whereRaw(OF_THIS_DATABASE).whereLike('query', `${beginning}%`);
  await eventually(async () => running().first('query'), PATIENCE_MS);
}
