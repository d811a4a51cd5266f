import { across } from '../../../db/across.ts';
import type { Deps } from '../kernel/context.ts';

/** Maximum number of events counted per subscriber. A count of this number means "at least this number". */
const COUNTED = 10_000;

/** Progress of one subscriber over all organizations. */
export interface SubscriberStatus {
  name: string;
  types: string[];
  /** Number of unapplied events, at most 10,000. Includes failing and waiting organizations. */
  lag_events: number;
  /**
   * Age (seconds) of the oldest unapplied event in organizations that are neither failing nor waiting. A high value
   * means that processing is late.
   */
  lag_seconds: number;
  /** Number of organizations whose next event has failed and will be retried. */
  failing_organizations: number;
  /** Number of organizations whose events wait until a parked event is replayed or discarded. */
  waiting_organizations: number;
  /** Number of parked events that are neither replayed nor discarded. */
  parked_events: number;
  /** Latest time at which a process confirmed that it runs this subscriber. */
  seen_at: Date;
}

/** Returns the progress of every subscriber. */
export async function reactionStatus({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<SubscriberStatus[]> {
  const { rows } = await across(db, 'engine').run<SubscriberStatus>(
    `select r.name, r.types, r.seen_at, unentered.events + behind.events as lag_events,
       greatest(0, extract(epoch from :now::timestamptz - least(unentered.oldest, behind.oldest)))::float8 as lag_seconds,
       behind.failing as failing_organizations, behind.waiting as waiting_organizations, parked.events as parked_events
     from reaction_subscribers r
     cross join lateral (
       select count(*)::int as events, min(created_at) as oldest from (
         select e.type, e.created_at from domain_events e where e.position > r.position order by e.position limit ${COUNTED}
       ) next where next.type = any(r.types)
     ) unentered
     cross join lateral (
       select count(*)::int as events, min(created_at) filter (where keeps_up) as oldest from (
         select e.created_at, s.attempts = 0 and s.waits_for is null as keeps_up
         from reaction_streams s join domain_events e
           on e.organization_id = s.organization_id and e.position > s.position and e.position <= s.head and e.type = any(r.types)
         where s.subscriber = r.name and s.head > s.position limit ${COUNTED}
       ) entered
     ) counted
     cross join lateral (
       select counted.events, counted.oldest, count(*) filter (where s.attempts > 0)::int as failing,
         count(*) filter (where s.waits_for is not null)::int as waiting
       from reaction_streams s where s.subscriber = r.name and s.head > s.position
     ) behind
     cross join lateral (
       select count(*)::int as events from reaction_parked_events p where p.subscriber = r.name and p.state = 'parked'
     ) parked
     order by r.name`,
    { now: clock.now() },
  );
  return rows;
}

/**
 * Returns the age (seconds) of the oldest event without a stream position, or 0 if there is none. The age rises if no
 * process runs the fan-out.
 */
export async function unplacedSeconds({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<number> {
  const { rows } = await across(db, 'engine').run<{ created_at: Date }>(
    'select created_at from domain_events where id = (select id from domain_events where position is null order by id limit 1)',
    {},
  );
  return rows[0] ? Math.max(0, (clock.now().getTime() - rows[0].created_at.getTime()) / 1000) : 0;
}
