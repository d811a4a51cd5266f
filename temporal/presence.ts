import { across } from '../db/across.ts';
import type { Db } from '../db/connection.ts';
import type { Columns } from '../db/rows.ts';
import { RESOURCES, type Resource } from '../workflows/queues.ts';

/** How often (ms) a worker process records that it is alive. */
export const PRESENCE_MS = 2_000;
/** After this long (ms) without such a record a process counts as dead. */
const GONE_MS = 8_000;
const FORGOTTEN = '1 day';

/** What may have no worker: the workflows themselves, or a resource's work. */
export type Served = 'workflows' | Resource;

/** The worker processes that are alive, and what none of them serves. */
export interface Presence {
  /** Processes that serve a task queue. */
  workers: number;
  unserved: Served[];
}

/**
 * Records that a worker process is alive, which place of files it sees (null while that is PostgreSQL) and which keys for Temporal it has. Temporal lists pollers for minutes after they ended, so a killed worker
 * would count as alive; this record expires within seconds.
 */
export async function recordPresence(
  db: Db,
  id: string,
  { roles, blobPlace, codecKeys }: { roles: readonly string[]; blobPlace: string | null; codecKeys: readonly string[] },
): Promise<void> {
  const workers = across(db, 'engine');
  await workers
    .insert('workers', { id, roles: [...roles], blob_place: blobPlace, codec_keys: [...codecKeys] })
    .onConflict('id')
    .merge({ seen_at: workers.raw('now()'), blob_place: blobPlace });
}

/** Deletes the record of a worker process that stops, and of those that ended long ago without deleting theirs. */
export async function removePresence(db: Db, id: string): Promise<void> {
  await across(db, 'engine').sql(`delete from workers where id = :id or seen_at < now() - interval '${FORGOTTEN}'`, {
    id,
  });
}

/** Reads which workers are alive. A process whose role is `temporal` serves everything. */
export async function presence(db: Db): Promise<Presence> {
  const alive = await across(db, 'engine').sql<Columns<'workers', 'roles'>>(
    `select roles from workers where seen_at > now() - :gone * interval '1 millisecond'`,
    { gone: GONE_MS },
  );
  const serves = (roles: readonly string[], what: Served) => roles.includes('temporal') || roles.includes(what);
  const all: Served[] = ['workflows', ...RESOURCES];
  return {
    workers: alive.filter(({ roles }) => all.some((what) => serves(roles, what))).length,
    unserved: all.filter((what) => !alive.some(({ roles }) => serves(roles, what))),
  };
}
