import { json } from '../../../db/connection.ts';
import { across } from '../../../db/across.ts';
import type { Deps } from '../kernel/context.ts';
import { sortedTypes, type Subscriber } from './subscriber.ts';

/** Positions by which one subscriber moves in one turn. */
const PAGE = 5_000;
const MAX_DUE = 500;

/** The work of one subscriber in one organization. */
export interface DueStream {
  subscriber: string;
  organization_id: string;
}

interface EnteredEvents {
  /** Streams with new events. */
  streams: DueStream[];
  /** A subscriber moved by as much as one turn allows: there may be more. */
  full: boolean;
}

/**
 * Moves the subscribers on in the stream of all organizations and records, for each, which organizations have new events
 * for it. Positions become visible in their order, so no event appears before a subscriber's position later. Subscribers
 * that another process is moving are skipped, and so are those that take other types than in this build.
 * No row is locked while nothing is new: a lock is a write, and this runs every few seconds.
 */
export async function enterEvents(
  { db }: Pick<Deps, 'db'>,
  subscribers: readonly Subscriber[],
): Promise<EnteredEvents> {
  const { rows } = await across(db, 'engine').run<{ streams: DueStream[] | null; full: boolean | null }>(
    ENTER,
    { known: knownSubscribers(subscribers) },
    'heron_enter_events',
  );
  return { streams: rows[0]!.streams ?? [], full: rows[0]!.full ?? false };
}

/** Exported for tests and benches of its plan. */
export const ENTER = `with taken as materialized (
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
       select r.name, e.organization_id, r.position as behind, max(e.position) as head
       from ranges r join domain_events e on e.position > r.position and e.position <= r.last and e.type = any(r.types)
       group by r.name, e.organization_id, r.position
     ), entered as (
       insert into reaction_streams (organization_id, subscriber, position, head)
       select organization_id, name, behind, head from news order by organization_id, name
       on conflict (organization_id, subscriber) do update set head = greatest(reaction_streams.head, excluded.head)
       returning subscriber, organization_id
     ), moved as (
       update reaction_subscribers s set position = r.last from ranges r where s.name = r.name
     )
     select (select json_agg(e) from entered e) as streams, (select bool_or(found = ${PAGE}) from ranges) as full`;

/** Streams that are due (left by a process that died, or to be retried), and in how many ms the next failed one is; null when none has failed. */
export async function findDueStreams(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  subscribers: readonly Subscriber[],
): Promise<{ due: DueStream[]; nextAttemptMs: number | null }> {
  const now = clock.now();
  const { rows } = await across(db, 'engine').run<DueStream & { next_attempt_at: Date | null }>(
    // In random order, so that several processes begin with different ones. Beside those that are due, the failed one that is due next.
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

/** Names and types, for a comparison with what is registered. */
export function knownSubscribers(subscribers: readonly Subscriber[]): string {
  return json(subscribers.map((subscriber) => ({ name: subscriber.name, types: sortedTypes(subscriber) })));
}
