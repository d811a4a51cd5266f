import type { OrgScope } from '../../../db/tenancy.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { REPLAY_EVENT } from '../../platform/dead-letters.ts';

/**
 * Returns the ids of events that replays skipped, by replay and in order. They are read from the events' dead letters,
 * including replayed ones.
 */
export async function readSkippedEvents(org: OrgScope, replayIds: readonly string[]): Promise<Map<string, string[]>> {
  const rows = await org.sql<{ replay_id: string; event_ids: string[] }>(
    // The task type is in the SQL text and not bound, so that PostgreSQL uses the partial index
    // `dead_letters_passed_over`.
    `select payload ->> 'replay_id' as replay_id, array_agg(payload ->> 'event_id' order by id) as event_ids from dead_letters
     where organization_id = :org and task_type = '${REPLAY_EVENT}' and payload ->> 'replay_id' = any(cast(:ids as text[])) group by 1`,
    { ids: replayIds },
  );
  return new Map(rows.map(({ replay_id: replayId, event_ids: ids }) => [replayId, ids]));
}

/**
 * Returns the goal and the time of a skipped event, by the task id of its dead letter. Undefined if the event was
 * deleted.
 */
export async function findSkippedEvent(
  tx: Tx,
  taskId: string,
): Promise<{ goal_id: string; occurred_at: Date } | undefined> {
  const [row] = await tx.org.sql<{ goal_id: string; occurred_at: Date }>(
    `select g.id as goal_id, e.occurred_at from dead_letters l
     join goals g on g.id = cast(l.payload ->> 'goal_id' as uuid) and g.archived_at is null
     join product_events e on e.id = cast(l.payload ->> 'event_id' as uuid) and e.organization_id = :org
     where l.organization_id = :org and l.task_type = :type and l.task_id = :task`,
    { type: REPLAY_EVENT, task: taskId },
  );
  return row;
}
