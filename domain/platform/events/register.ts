import type { Columns } from '../../../db/rows.ts';
import { json } from '../../../db/connection.ts';
import { across } from '../../../db/across.ts';
import { MIGRATIONS } from '../../../db/migrations/index.ts';
import type { Deps } from '../kernel/context.ts';
import { sortedTypes, type Subscriber } from './subscriber.ts';

/**
 * Time (ms) for which the cursors of a subscriber are kept after its last process has stopped, so that a release can be
 * rolled back.
 */
const ABANDONED_AFTER_MS = 24 * 3600_000;

/** Interval (ms) at which a process confirms that it is alive with its subscribers. */
export const CONFIRM_MS = 60_000;
/**
 * Time (ms) without confirmation after which a subscriber's registered build is considered stopped. Any other build may
 * then take the subscriber over.
 */
const STALE_MS = 3 * CONFIRM_MS;
/** Number of migrations, which orders the builds that use the same database by age. A higher number is newer. */
const BUILD = MIGRATIONS.length;

/**
 * Registers the subscribers of this build at process start. A new subscriber gets its starting position. A changed list
 * of types replaces the stored one, and processes with the earlier list then skip the subscriber. The registration of a
 * newer running build is kept. Therefore an old process that restarts during a roll-out does not become the registered
 * build again.
 * @param build number of the build; a parameter for tests
 */
export async function registerSubscribers(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  subscribers: readonly Subscriber[],
  build = BUILD,
): Promise<void> {
  await store(db, clock.now(), subscribers, { build, takesSame: true });
}

/**
 * Confirms that a process with these subscribers is alive, which protects them from {@link removeAbandoned}. Called
 * every {@link CONFIRM_MS}. Takes over subscribers whose registered build no longer runs.
 * @param build number of the build; a parameter for tests
 */
export async function confirmSubscribers(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  subscribers: readonly Subscriber[],
  build = BUILD,
): Promise<void> {
  await store(db, clock.now(), subscribers, { build, takesSame: false });
}

/**
 * @param takesSame true to take over the registration of a build with the same number, so that the last process to
 * start wins
 */
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
 * Deletes the cursors and parked events of subscribers that this build does not have and that no process has run for a
 * day.
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
