import { json } from '../../../db/connection.ts';
import { across } from '../../../db/across.ts';
import type { Deps } from '../kernel/context.ts';
import { sortedTypes, type Subscriber } from './subscriber.ts';

/** Maximum number of positions by which a subscriber advances in one iteration. */
const PAGE = 5_000;
const MAX_DUE = 500;

/** Subscriber and organization with events to apply. */
export interface DueStream {
  subscriber: string;
  organization_id: string;
}

interface EnteredEvents {
  /** Streams with new events. */
  streams: DueStream[];
  /** True when a subscriber advanced by the maximum, so there may be more events. */
  full: boolean;
}

/**
 * Reads new events of all organizations for each subscriber, and records the organizations that have some. Positions
 * become visible in order, so no event can later appear before a subscriber's position. Skips subscribers that another
 * process is advancing, and those whose stored types differ from this build's. Locks no row if there are no new events,
 * because a lock is a write and the statement runs every few seconds.
 */
export async function enterEvents(
  { db }: Pick<Deps, 'db'>,
  subscribers: readonly Subscriber[],
): Promise<EnteredEvents> {
  const [row] = await across(db, 'engine').sql<{ streams: DueStream[] | null; full: boolean | null }>(
    enterSql(subscribers),
    { known: knownSubscribers(subscribers) },
  );
  return { streams: row!.streams ?? [], full: row!.full ?? false };
}

/**
 * Returns the statement of {@link enterEvents}. For a stream without pending events, the position moves past the
 * skipped events. Exported for benchmarks of its query plan.
 */
export function enterSql(subscribers: readonly Subscriber[]): string {
  return `with taken as materialized (
       select r.name, r.types, r.position from reaction_subscribers r
       join jsonb_to_recordset(:known::jsonb) as k(name text, types text[]) on k.name = r.name and k.types = r.types
       where r.position < (select max(position) from domain_events)
       for update of r skip locked
     ), ranges as materialized (
       select t.name, t.types, t.position, n.last, n.found from taken t
       cross join lateral (
         select max(position) as last, count(*) as found
         from (select e.position from domain_events e where e.position > t.position order by e.position limit ${PAGE}) page
       ) n
       where n.last is not null
     ), news as (
       select r.name, e.organization_id, r.position as behind, max(e.position) as last,
         max(e.position) filter (where ${isAlwaysEntered(subscribers)}) as always
       from ranges r join domain_events e on e.position > r.position and e.position <= r.last and e.type = any(r.types)
       group by r.name, e.organization_id, r.position
     ), wanted as (
       select n.name, n.organization_id, n.behind, case when ${isWanted(subscribers)} then n.last else n.always end as head from news n
     ), entered as (
       insert into reaction_streams (organization_id, subscriber, position, head)
       select organization_id, name, behind, head from wanted where head is not null order by organization_id, name
       on conflict (organization_id, subscriber) do update set head = greatest(reaction_streams.head, excluded.head),
         position = case when reaction_streams.position = reaction_streams.head then greatest(reaction_streams.position, excluded.position) else reaction_streams.position end
       returning subscriber, organization_id
     ), moved as (
       update reaction_subscribers s set position = r.last from ranges r where s.name = r.name
     )
     select (select json_agg(e) from entered e) as streams, (select bool_or(found = ${PAGE}) from ranges) as full`;
}

/**
 * Returns the SQL condition that an event (`e`) is not optional for a subscriber (`r`), so that every organization
 * applies it.
 */
function isAlwaysEntered(subscribers: readonly Subscriber[]): string {
  const optional = subscribers.flatMap(({ name, optional: some }) =>
    some ? [`when '${name}' then e.type <> all('{${[...new Set<string>(some.types)].join(',')}}'::text[])`] : [],
  );
  return optional.length === 0 ? 'true' : `case r.name ${optional.join(' ')} else true end`;
}

/** Returns the SQL condition that the organization `n.organization_id` wants the optional events of a subscriber. */
function isWanted(subscribers: readonly Subscriber[]): string {
  const wanted = subscribers.flatMap(({ name, optional }) =>
    optional ? [`when '${name}' then exists (${optional.wanted})`] : [],
  );
  return wanted.length === 0 ? 'true' : `case n.name ${wanted.join(' ')} else true end`;
}

/**
 * Finds streams with events that are not yet applied, because a process has crashed or a retry is due. Also returns the
 * time (ms) until the next retry of a failed stream, or null if no stream has failed.
 */
export async function findDueStreams(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  subscribers: readonly Subscriber[],
): Promise<{ due: DueStream[]; nextAttemptMs: number | null }> {
  const now = clock.now();
  const { rows } = await across(db, 'engine').run<DueStream & { next_attempt_at: Date | null }>(
    // Random order makes concurrent processes start with different streams. The second part selects the next failed
    // stream.
    `(select subscriber, organization_id, null::timestamptz as next_attempt_at from reaction_streams
      where subscriber = any(:names::text[]) and head > position and waits_for is null and (next_attempt_at is null or next_attempt_at <= :now)
      order by random() limit ${MAX_DUE})
     union all
     (select subscriber, organization_id, next_attempt_at from reaction_streams
      where subscriber = any(:names::text[]) and head > position and waits_for is null and next_attempt_at > :now
      order by next_attempt_at limit 1)`,
    { names: subscribers.map(({ name }) => name), now },
  );
  const next = rows.find(({ next_attempt_at: at }) => at !== null)?.next_attempt_at;
  return {
    due: rows.filter(({ next_attempt_at: at }) => at === null),
    nextAttemptMs: next ? next.getTime() - now.getTime() : null,
  };
}

/** Returns names and types of subscribers as JSON, for comparison with the registered ones. */
export function knownSubscribers(subscribers: readonly Subscriber[]): string {
  return json(subscribers.map((subscriber) => ({ name: subscriber.name, types: sortedTypes(subscriber) })));
}
