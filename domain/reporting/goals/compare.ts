import type { OrgScope } from '../../../db/tenancy.ts';
import { mayBeUndecided } from '../../directory/predicates/compile.ts';
import { compileDefinition } from './compile.ts';
import type { GoalDefinition } from './definition.ts';
import { meetsDefinition, valueOf } from './match.ts';

/** A goal, one of its definitions, and a range of event times. The end of the range is exclusive. */
export interface Comparison {
  goalId: string;
  revision: number;
  definition: GoalDefinition;
  from: Date;
  to: Date;
}

/**
 * Position of the last compared event. The time is in PostgreSQL's text form, because a Date would lose the
 * microseconds.
 */
export interface Place {
  at: string;
  id: string;
}

/** An event that meets the definition, with the values of its conversion. */
export interface Match {
  eventId: string;
  /** Time of the event in PostgreSQL's text form. */
  occurredAt: string;
  /**
   * Id of the event's person. Null for an event stored before Heron had people; its person is then found by the
   * contact.
   */
  personId: string | null;
  contactId: string | null;
  valueMinor: number | null;
  currency: string | null;
}

/** Result of one page of a comparison. Each event or conversion of the page is counted once. */
export interface ComparedPage {
  /** Number of compared events: events of the definition's name, and events that have a conversion now. */
  scanned: number;
  /**
   * Number of conversions that do not change. `changed` lists conversions of another revision, with their new values.
   */
  kept: number;
  changed: Match[];
  /** Events that become conversions. */
  added: Match[];
  /** Ids of events whose conversions are removed, because the events do not meet the definition. */
  removed: string[];
  /** Number of conversions whose event was deleted after its retention. These conversions are not changed. */
  retainedWithoutEvent: number;
  /** Position of the next page. Null after the last page. */
  next: Place | null;
}

type Outcome = 'add' | 'change' | 'remove' | 'undecided';

interface OutcomeRow {
  outcome: Outcome | 'page';
  event_id: string | null;
  occurred_at: string | null;
  person_id: string | null;
  contact_id: string | null;
  value_minor: number | null;
  currency: string | null;
  /**
   * Data of an event for which PostgreSQL cannot evaluate the definition. `standing_revision` is the revision of the
   * event's current conversion.
   */
  data: unknown;
  standing_revision: number | null;
  /** The following columns are set only in the row `page`. */
  scanned: number;
  kept: number;
  retained: number;
  is_last: boolean;
}

/**
 * Compares a page of a range's product events, in order of their times, with a goal's conversions. Replays and previews
 * both use this function, so a preview shows the effects that the replay will have. Changes no data.
 *
 * A page consists of the next `limit` events of the definition's name and conversions of the goal, together. A
 * conversion has the time of its event, so a page that contains an event also contains the event's conversion.
 */
export async function compareEvents(
  org: OrgScope,
  comparison: Comparison,
  after: Place | null,
  limit: number,
): Promise<ComparedPage> {
  const { sql, bindings } = pageStatement(comparison, after, limit);
  const rows = await org.sql<OutcomeRow>(sql as `:org`, bindings);
  const page: ComparedPage = {
    scanned: 0,
    kept: 0,
    changed: [],
    added: [],
    removed: [],
    retainedWithoutEvent: 0,
    next: null,
  };
  for (const row of rows) place(page, row, comparison);
  return page;
}

/** Returns the SQL statement of a page. The organization must be bound as `:org`. */
export function pageStatement(comparison: Comparison, after: Place | null, limit: number) {
  const { goalId, revision, definition, from, to } = comparison;
  const { sql, bindings } = comparisonSql(definition);
  return {
    sql,
    bindings: {
      ...bindings,
      name: definition.event_name,
      goal: goalId,
      revision,
      from,
      to,
      afterAt: after?.at ?? from,
      afterId: after?.id ?? BEFORE_ALL,
      limit,
    },
  };
}

/** Id that is lower than every event id. */
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

function place(page: ComparedPage, row: OutcomeRow, { revision, definition }: Comparison): void {
  switch (row.outcome) {
    case 'page':
      page.scanned = row.scanned;
      page.kept += row.kept;
      page.retainedWithoutEvent = row.retained;
      if (!row.is_last) page.next = { at: row.occurred_at!, id: row.event_id! };
      return;
    case 'remove':
      page.removed.push(row.event_id!);
      return;
    case 'add':
      page.added.push(toMatch(row));
      return;
    case 'change':
      page.kept += 1;
      page.changed.push(toMatch(row));
      return;
    case 'undecided': {
      const standing = row.standing_revision !== null;
      if (!meetsDefinition(definition, { name: definition.event_name, data: row.data })) {
        if (standing) page.removed.push(row.event_id!);
        return;
      }
      const match = { ...toMatch(row), ...valueOf(definition, row.data) };
      if (!standing) page.added.push(match);
      else {
        page.kept += 1;
        if (row.standing_revision !== revision) page.changed.push(match);
      }
    }
  }
}

function toMatch(row: OutcomeRow): Match {
  return {
    eventId: row.event_id!,
    occurredAt: row.occurred_at!,
    personId: row.person_id,
    contactId: row.contact_id,
    valueMinor: row.value_minor,
    currency: row.value_minor === null ? null : row.currency,
  };
}

/**
 * Returns SQL with one row for each event that a replay would change, and a row `page` with the counts and the last
 * position. Unchanged events are not returned. Events and conversions are matched as neighbours in one sorted list, so
 * that the query is fast even if PostgreSQL has no statistics of the tables. A conversion without a neighbouring event
 * does not meet the definition: its event has another name or was deleted.
 */
function comparisonSql(definition: GoalDefinition) {
  const compiled = compileDefinition(definition, 'e.data');
  const data = mayBeUndecided(definition.predicates) ? 'case when matches is null then data end' : 'null::jsonb';
  const sql = `with events as materialized (
      select e.id, e.occurred_at, e.person_id, e.contact_id, e.data from product_events e
      where e.organization_id = :org and e.name = :name and e.occurred_at >= :from and e.occurred_at < :to
        and (e.occurred_at, e.id) > (cast(:afterAt as timestamptz), cast(:afterId as uuid))
      order by e.occurred_at, e.id limit :limit),
    standing as materialized (
      select c.event_id, c.occurred_at, c.goal_revision from conversions c
      where c.organization_id = :org and c.goal_id = :goal and c.occurred_at >= :from and c.occurred_at < :to
        and (c.occurred_at, c.event_id) > (cast(:afterAt as timestamptz), cast(:afterId as uuid))
      order by c.occurred_at, c.event_id limit :limit),
    paired as (
      select k.*, lead(k.id) over ordered as next_id, lead(k.goal_revision) over ordered as next_revision, lag(k.id) over ordered as previous_id
      from (
        select occurred_at, id, person_id, contact_id, data, true as is_event, null::int as goal_revision from events
        union all select occurred_at, event_id, null, null, null, false, goal_revision from standing) k
      window ordered as (order by k.occurred_at, k.id, k.is_event desc)),
    page as materialized (
      select occurred_at, id, person_id, contact_id, data, is_event, next_id is not distinct from id as stands,
        case when next_id = id then next_revision end as standing_revision
      from paired where previous_id is distinct from id order by occurred_at, id limit :limit),
    last as (select occurred_at, id, (select count(*) from page) as keys from page order by occurred_at desc, id desc limit 1),
    paged as materialized (select e.*, ${compiled.matches} as matches from page e where e.is_event),
    valued as materialized (
      select e.*, ${compiled.currency} as code from paged e
      where e.matches and (not e.stands or e.standing_revision <> :revision)),
    elsewhere as materialized (
      select s.id as event_id, p.id is not null as is_stored
      from page s left join product_events p on p.organization_id = :org and p.id = s.id
      where not s.is_event and (p.id is null or p.name <> :name))
    select case when stands then 'change' else 'add' end as outcome, id as event_id, cast(occurred_at as text) as occurred_at, person_id, contact_id,
      ${compiled.valueMinor('e.code')} as value_minor, code as currency, null::jsonb as data, standing_revision,
      0::bigint as scanned, 0::bigint as kept, 0::bigint as retained, false as is_last
    from valued e
    union all
    select case when matches is null then 'undecided' else 'remove' end, id, cast(occurred_at as text), person_id, contact_id,
      null, null, ${data}, standing_revision, 0, 0, 0, false
    from paged where matches is null or (stands and not matches)
    union all
    select 'remove', event_id, null, null, null, null, null, null, null, 0, 0, 0, false from elsewhere where is_stored
    union all
    select 'page', last.id, cast(last.occurred_at as text), null, null, null, null, null, null,
      (select count(*) from paged) + (select count(*) from elsewhere where is_stored),
      (select count(*) from paged where matches and stands and standing_revision = :revision),
      (select count(*) from elsewhere where not is_stored),
      last.keys < :limit
    from last`;
  return { sql, bindings: compiled.bindings };
}
