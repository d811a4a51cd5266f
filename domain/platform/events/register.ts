import type { Columns } from '../../../db/rows.ts';
import { json } from '../../../db/connection.ts';
import { across } from '../../../db/across.ts';
import { MIGRATIONS } from '../../../db/migrations/index.ts';
import type { Deps } from '../kernel/context.ts';
import { sortedTypes, type Subscriber } from './subscriber.ts';

/** How long (ms) the cursors of a subscriber are kept after the last process that had it, for a rollback of the release. */
const ABANDONED_AFTER_MS = 24 * 3600_000;

/** How often (ms) a process says that it is alive and has its subscribers. */
export const CONFIRM_MS = 60_000;
/** Types that no process has confirmed for this long (ms) are those of a build that is gone: any other takes the subscriber over. */
const STALE_MS = 3 * CONFIRM_MS;
/** How new this build is, among those that use the same database. */
const BUILD = MIGRATIONS.length;

/**
 * Registers the subscribers of this build, when a process starts. A new one gets its starting position; one that takes other types than before takes them from now on, and
 * processes of the other build skip it. What a newer build has registered stays its own while it is alive: a process of the last release that starts
 * once more in the middle of a roll-out takes nothing back.
 * @param build how new the build is; a parameter for tests
 */
export async function registerSubscribers(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  subscribers: readonly Subscriber[],
  build = BUILD,
): Promise<void> {
  await store(db, clock.now(), subscribers, { build, takesSame: true });
}

/**
 * Says that a process with these subscribers is alive; called every {@link CONFIRM_MS}, it protects them from {@link removeAbandoned}. One that has the types of a build
 * that is gone is taken over.
 * @param build how new the build is; a parameter for tests
 */
export async function confirmSubscribers(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  subscribers: readonly Subscriber[],
  build = BUILD,
): Promise<void> {
  await store(db, clock.now(), subscribers, { build, takesSame: false });
}

/** @param takesSame whether a build that is as new takes over what another has registered: of two, the one that starts last has it */
async function store(
  db: Deps['db'],
  now: Date,
  subscribers: readonly Subscriber[],
  { build, takesSame }: { build: number; takesSame: boolean },
): Promise<void> {
  await across(db, 'engine').run(
    `insert into reaction_subscribers as r (name, types, build, position, seen_at, created_at)
     select k.name, k.types, :build::int, case when k.from_now then coalesce((select max(position) from domain_events), 0) else 0 end, :now, :now
     from jsonb_to_recordset(:known::jsonb) as k(name text, types text[], from_now boolean) order by k.name
     on conflict (name) do update set types = excluded.types, seen_at = excluded.seen_at,
       build = case when r.types = excluded.types then greatest(r.build, excluded.build) else excluded.build end
       where r.types = excluded.types or r.build < excluded.build or (r.build = excluded.build and :takesSame) or r.seen_at < :stale`,
    {
      now,
      build,
      takesSame,
      stale: new Date(now.getTime() - STALE_MS),
      known: json(
        subscribers.map((subscriber) => ({
          name: subscriber.name,
          types: sortedTypes(subscriber),
          from_now: subscriber.startsFrom === 'now',
        })),
      ),
    },
  );
}

/**
 * Deletes the cursors and parked events of subscribers that this build does not have and no process has had for a day.
 * @returns their names
 */
export async function removeAbandoned(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  subscribers: readonly Subscriber[],
): Promise<string[]> {
  const { rows } = await across(db, 'engine').run<Columns<'reaction_subscribers', 'name'>>(
    'delete from reaction_subscribers where name <> all(:names::text[]) and seen_at < :before returning name',
    {
      names: subscribers.map(({ name }) => name),
      before: new Date(clock.now().getTime() - ABANDONED_AFTER_MS),
    },
  );
  return rows.map(({ name }) => name);
}
