import { newId } from '../../../lib/ids.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import type { Match } from './compare.ts';

/** Maximum number of people in one `person.changed` event. */
const MAX_NAMED = 500;

/** A match with its person, goal and revision. */
export interface NewConversion extends Match {
  goalId: string;
  revision: number;
  personId: string;
}

/** Result for a conversion that was stored or changed. */
interface Recorded {
  personId: string;
  /** False for an existing conversion that was changed to a newer revision. */
  isNew: boolean;
}

/**
 * Stores conversions. An existing conversion of the goal and event is updated if it belongs to an older revision, and
 * otherwise left unchanged.
 * @returns the conversions that were stored or changed
 */
export async function recordConversions(tx: Tx, conversions: readonly NewConversion[]): Promise<Recorded[]> {
  if (conversions.length === 0) return [];
  // Sorts the rows, so that transactions that store the same conversions cannot deadlock.
  const rows = [...conversions].sort((a, b) => compare(a.goalId, b.goalId) || compare(a.eventId, b.eventId));
  return tx.org.sql<Recorded>(
    `insert into conversions (id, organization_id, goal_id, goal_revision, event_id, person_id, occurred_at, value_minor, currency, created_at)
     select u.id, :org, u.goal, u.revision, u.event, u.person, u.occurred, u.value, u.currency, :now
     from unnest(cast(:ids as uuid[]), cast(:goals as uuid[]), cast(:revisions as integer[]), cast(:events as uuid[]), cast(:people as uuid[]),
       cast(:times as timestamptz[]), cast(:values as bigint[]), cast(:currencies as text[]))
       as u(id, goal, revision, event, person, occurred, value, currency)
     on conflict (goal_id, event_id) do update
       set goal_revision = excluded.goal_revision, value_minor = excluded.value_minor, currency = excluded.currency
       where conversions.goal_revision < excluded.goal_revision
     returning person_id as "personId", xmax = 0 as "isNew"`,
    {
      ids: rows.map(() => newId()),
      goals: rows.map(({ goalId }) => goalId),
      revisions: rows.map(({ revision }) => revision),
      events: rows.map(({ eventId }) => eventId),
      people: rows.map(({ personId }) => personId),
      times: rows.map(({ occurredAt }) => occurredAt),
      values: rows.map(({ valueMinor }) => valueMinor),
      currencies: rows.map(({ currency }) => currency),
      now: tx.now,
    },
  );
}

/** Deletes conversions of a goal by their events. Returns the id of each deleted conversion's person. */
export async function deleteConversions(tx: Tx, goalId: string, eventIds: readonly string[]): Promise<string[]> {
  if (eventIds.length === 0) return [];
  const rows = await tx.org.sql<{ person_id: string }>(
    `delete from conversions where organization_id = :org and goal_id = :goal and event_id = any(cast(:events as uuid[])) returning person_id`,
    { goal: goalId, events: eventIds },
  );
  return rows.map((row) => row.person_id);
}

/** Emits `person.changed` for people whose conversions changed. The events contain each person once. */
export function announcePeople(tx: Tx, personIds: Iterable<string>): void {
  const all = [...new Set(personIds)].sort();
  for (let start = 0; start < all.length; start += MAX_NAMED)
    tx.emit('person.changed', { person_ids: all.slice(start, start + MAX_NAMED) });
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
