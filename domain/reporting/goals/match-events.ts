import type { Columns } from '../../../db/rows.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { announcePeople, recordConversions, type NewConversion } from './convert.ts';
import type { GoalDefinition } from './definition.ts';
import { goalsOf } from './goals.ts';
import { meetsDefinition, valueOf } from './match.ts';
import { withPeople } from './people.ts';

interface StoredEvent extends Columns<
  'product_events',
  'id' | 'name' | 'data' | 'received_at' | 'person_id' | 'contact_id'
> {
  /** Time of the event in PostgreSQL's text form. */
  occurred_at: string;
}

/** A version of a goal's definition. */
type Revision = Columns<'goal_revisions', 'goal_id' | 'revision' | 'created_at'> & { definition: GoalDefinition };

/**
 * Creates conversions of stored product events for all active goals, by the definition that was valid when each event
 * was received. An event gets one conversion per goal, even if this function is called late or repeatedly. Skips
 * deleted events.
 */
export async function matchEvents(tx: Tx, eventIds: readonly string[]): Promise<void> {
  const [, events] = await Promise.all([
    // Sends the lock statement first. Therefore a transaction that creates a goal either waits for the lock, or has
    // committed and its goal is visible here.
    tx.org.lock(goalsOf(tx), { isShared: true }),
    readEvents(tx, eventIds),
  ]);
  if (events.length === 0) return;
  const revisions = await lockRevisions(tx, events);
  if (revisions.size === 0) return;
  const replays = await readReplays(tx, [...revisions.keys()], events);
  const matches = events.flatMap((event) =>
    [...revisions].flatMap(([goalId, all]) => {
      const revision = inForce(all, event, replays.get(goalId) ?? []);
      return revision && meetsDefinition(revision.definition, event) ? [toMatch(event, revision)] : [];
    }),
  );
  const recorded = await recordConversions(tx, await withPeople(tx, matches));
  announcePeople(
    tx,
    recorded.map(({ personId }) => personId),
  );
}

/** Returns the events that may reach a goal. */
function readEvents(tx: Tx, eventIds: readonly string[]): Promise<StoredEvent[]> {
  return tx.org.sql<StoredEvent>(
    `select e.id, e.name, e.data, e.received_at, e.person_id, e.contact_id, cast(e.occurred_at as text) as occurred_at
     from product_events e
     where e.organization_id = :org and e.id = any(cast(:ids as uuid[])) and exists (
       select from goals g join goal_revisions r on r.goal_id = g.id
       where g.organization_id = :org and g.archived_at is null and r.definition ->> 'event_name' = e.name)
     order by e.id`,
    { ids: eventIds },
  );
}

/**
 * Returns the definitions that may apply to the events, by goal, latest first. Locks the goals until the transaction
 * ends, so that no page of their replays is processed in the meantime. Later pages see the conversions stored here, and
 * this transaction sees the current positions of the replays.
 */
async function lockRevisions(tx: Tx, events: readonly StoredEvent[]): Promise<Map<string, Revision[]>> {
  const received = events.map((event) => event.received_at.getTime());
  const bindings = { names: [...new Set(events.map(({ name }) => name))], earliest: new Date(Math.min(...received)) };
  const [, revisions] = await Promise.all([
    tx.org.sql(
      `select g.id from goals g where g.organization_id = :org and g.archived_at is null and exists (
         select from goal_revisions r where r.goal_id = g.id and r.definition ->> 'event_name' = any(cast(:names as text[])))
       order by g.id for share`,
      bindings,
    ),
    tx.org.sql<Revision>(
      `select r.goal_id, r.revision, r.created_at, r.definition from goals g join goal_revisions r on r.goal_id = g.id
       where g.organization_id = :org and g.archived_at is null
         and exists (select from goal_revisions n where n.goal_id = g.id and n.definition ->> 'event_name' = any(cast(:names as text[])))
         and not exists (select from goal_revisions n where n.goal_id = r.goal_id and n.revision > r.revision and n.created_at <= :earliest)
       order by r.goal_id, r.revision desc`,
      bindings,
    ),
  ]);
  return byGoal(revisions);
}

type Replayed = Columns<'goal_replays', 'goal_id' | 'goal_revision'> & { event_id: string };

/**
 * Returns replays that have already processed some of the events, by goal. An older definition must not override the
 * result of such a replay. For a cancelled or failed replay, only events before its position are included.
 */
async function readReplays(
  tx: Tx,
  goalIds: string[],
  events: readonly StoredEvent[],
): Promise<Map<string, Replayed[]>> {
  const rows = await tx.org.sql<Replayed>(
    `select r.goal_id, r.goal_revision, e.id as event_id
     from goal_replays r join product_events e on e.organization_id = r.organization_id and e.id = any(cast(:events as uuid[]))
       and e.occurred_at >= r.from_at and e.occurred_at < r.to_at
       and (r.state = 'completed' or (e.occurred_at, e.id) <= (r.cursor_at, r.cursor_id))
     where r.organization_id = :org and r.goal_id = any(cast(:goals as uuid[])) and r.started_at is not null`,
    { goals: goalIds, events: events.map(({ id }) => id) },
  );
  return byGoal(rows);
}

/**
 * Returns the definition for an event: that of a replay that has already processed the event, otherwise the one that
 * was valid when the event was received.
 */
function inForce(
  revisions: readonly Revision[],
  event: StoredEvent,
  replays: readonly Replayed[],
): Revision | undefined {
  const replayed = Math.max(
    0,
    ...replays.filter((each) => each.event_id === event.id).map((each) => each.goal_revision),
  );
  return revisions.find(
    ({ revision, created_at: createdAt }) => revision <= replayed || createdAt.getTime() <= event.received_at.getTime(),
  );
}

function toMatch(
  event: StoredEvent,
  { goal_id: goalId, revision, definition }: Revision,
): Omit<NewConversion, 'personId'> & { personId: string | null } {
  return {
    goalId,
    revision,
    eventId: event.id,
    occurredAt: event.occurred_at,
    personId: event.person_id,
    contactId: event.contact_id,
    ...valueOf(definition, event.data),
  };
}

function byGoal<R extends { goal_id: string }>(rows: readonly R[]): Map<string, R[]> {
  const groups = new Map<string, R[]>();
  for (const row of rows) {
    const group = groups.get(row.goal_id);
    if (group) group.push(row);
    else groups.set(row.goal_id, [row]);
  }
  return groups;
}
