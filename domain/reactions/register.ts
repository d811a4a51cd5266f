import type { Columns } from '../../db/rows.ts';
import { json } from '../../db/connection.ts';
import { across } from '../../db/across.ts';
import type { Deps } from '../kernel/context.ts';
import { sortedTypes, type Subscriber } from './subscriber.ts';

/** How long (ms) the cursors of a subscriber are kept after the last process that had it, for a rollback of the release. */
const ABANDONED_AFTER_MS = 24 * 3600_000;

/**
 * Registers the subscribers of this build. A new one gets its starting position; one that takes other types than before
 * takes them from now on, and processes of the other build skip it.
 */
export async function registerSubscribers(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  subscribers: readonly Subscriber[],
): Promise<void> {
  await across(db, 'engine').run(
    `insert into reaction_subscribers (name, types, position, seen_at, created_at)
     select k.name, k.types, case when k.from_now then coalesce((select max(position) from domain_events), 0) else 0 end, :now, :now
     from jsonb_to_recordset(:known::jsonb) as k(name text, types text[], from_now boolean) order by k.name
     on conflict (name) do update set types = excluded.types, seen_at = excluded.seen_at`,
    {
      now: clock.now(),
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

/** Records that a process with these subscribers is alive; called at intervals, it protects them from {@link removeAbandoned}. */
export async function confirmSubscribers(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  subscribers: readonly Subscriber[],
): Promise<void> {
  await across(db, 'engine').run('update reaction_subscribers set seen_at = :now where name = any(:names::text[])', {
    now: clock.now(),
    names: subscribers.map(({ name }) => name),
  });
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
