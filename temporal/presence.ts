import { across } from '../db/across.ts';
import type { Db } from '../db/connection.ts';
import type { Columns } from '../db/rows.ts';
import { DRIFT_LIMIT_MS } from '../lib/clock.ts';
import { RESOURCES, type Resource } from '../workflows/queues.ts';

/** Interval (ms) at which a worker process records that it is running. */
export const PRESENCE_MS = 2_000;
/** Time (ms) without a new record after which a process counts as dead. */
const ABSENT_AFTER_MS = 8_000;
const FORGOTTEN = '1 day';

/** Queue that workers serve: the queue of the workflows or of a resource. */
export type Served = 'workflows' | Resource;

/** Number of running worker processes, and the queues that none of them serves. */
export interface Presence {
  /** Number of processes that serve a task queue. */
  workers: number;
  unserved: Served[];
}

interface PresenceFacts {
  roles: readonly string[];
  /** Id of the worker's file store. Null if the worker stores files in PostgreSQL. */
  blobPlace: string | null;
  /** Ids of the worker's Temporal encryption keys. */
  codecKeys: readonly string[];
  /** Time (ms) by which the clock of the worker's machine is ahead of PostgreSQL's; negative if it is behind. */
  clockAheadMs: number;
}

/**
 * Records that a worker process is running. The record expires within seconds, whereas Temporal lists the pollers of a
 * killed worker for minutes.
 */
export async function recordPresence(
  db: Db,
  id: string,
  { roles, blobPlace, codecKeys, clockAheadMs }: PresenceFacts,
): Promise<void> {
  const workers = across(db, 'engine');
  await workers
    .insert('workers', {
      id,
      roles: [...roles],
      blob_place: blobPlace,
      codec_keys: [...codecKeys],
      clock_ahead_ms: clockAheadMs,
    })
    .onConflict('id')
    .merge({ seen_at: workers.raw('now()'), blob_place: blobPlace, clock_ahead_ms: clockAheadMs });
}

/** Deletes the record of a stopping worker process, and old records of processes that died. */
export async function removePresence(db: Db, id: string): Promise<void> {
  await across(db, 'engine').sql(`delete from workers where id = :id or seen_at < now() - interval '${FORGOTTEN}'`, {
    id,
  });
}

/**
 * Reads the running workers. A process with the role `temporal` serves all queues. A process with a wrong clock accepts
 * no work, so it does not count as serving a queue.
 */
export async function readPresence(db: Db): Promise<Presence> {
  const alive = await across(db, 'engine').sql<Columns<'workers', 'roles'>>(
    `select roles from workers where seen_at > now() - :gone * interval '1 millisecond' and abs(clock_ahead_ms) < :limit`,
    { gone: ABSENT_AFTER_MS, limit: DRIFT_LIMIT_MS },
  );
  const serves = (roles: readonly string[], what: Served) => roles.includes('temporal') || roles.includes(what);
  const all: Served[] = ['workflows', ...RESOURCES];
  return {
    workers: alive.filter(({ roles }) => all.some((what) => serves(roles, what))).length,
    unserved: all.filter((what) => !alive.some(({ roles }) => serves(roles, what))),
  };
}
