import type { Columns } from '../../../db/rows.ts';
import type { ReplayReport } from '../../../workflows/goal-replay/contract.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { dropDeadLetter, REPLAY } from '../../platform/dead-letters.ts';
import { compareEvents, type ComparedPage, type Place } from './compare.ts';
import { announcePeople, deleteConversions, recordConversions, type NewConversion } from './convert.ts';
import type { GoalDefinition } from './definition.ts';
import { withPeople } from './people.ts';

/** Number of events and conversions per transaction of a replay. */
export const PAGE_EVENTS = 5000;

/** A replay that has not ended, with the current state of its goal. */
export interface OpenReplay extends Columns<
  'goal_replays',
  'id' | 'goal_id' | 'goal_revision' | 'from_at' | 'to_at' | 'cursor_id' | 'scanned' | 'blocked_reason'
> {
  /** Time of the last processed event, in PostgreSQL's text form. */
  cursor_at: string | null;
  is_current: boolean;
  definition: GoalDefinition;
}

/**
 * Processes the next page of a replay. Conversions, counts and position commit together, so that a page is never
 * applied twice. If the goal was edited or archived, the replay fails with `goal_changed`. A cancelled or ended replay
 * is left unchanged.
 */
export async function replayPage(ctx: Ctx, replayId: string, limit = PAGE_EVENTS): Promise<ReplayReport> {
  return transact(ctx, async (tx) => {
    const begun = await lockReplayPage(tx, replayId);
    return 'ended' in begun ? begun.ended : replayPageOf(tx, begun.replay, limit);
  });
}

/** Locks a replay and its goal for a page. Ends the replay if its goal was changed. */
export async function lockReplayPage(
  tx: Tx,
  replayId: string,
): Promise<{ replay: OpenReplay } | { ended: ReplayReport }> {
  const replay = await lockReplay(tx, replayId);
  if (!replay) return { ended: { kind: 'done', why: 'it has ended' } };
  if (replay.blocked_reason !== null) await dropDeadLetter(tx, REPLAY, replayId);
  if (replay.is_current) return { replay };
  await endReplay(tx, replayId, 'failed', 'goal_changed');
  return { ended: { kind: 'done', why: 'goal_changed' } };
}

/** Processes the next page of a replay locked by {@link lockReplayPage}. */
export async function replayPageOf(tx: Tx, replay: OpenReplay, limit: number): Promise<ReplayReport> {
  const page = await compareEvents(
    tx.org,
    {
      goalId: replay.goal_id,
      revision: replay.goal_revision,
      definition: replay.definition,
      from: replay.from_at,
      to: replay.to_at,
    },
    replay.cursor_at === null ? null : { at: replay.cursor_at, id: replay.cursor_id! },
    limit,
  );
  await applyPage(tx, replay, page);
  if (!page.next) {
    await endReplay(tx, replay.id, 'completed', null);
    return { kind: 'done', why: 'completed' };
  }
  return { kind: 'more', why: `${replay.scanned + page.scanned} events so far, up to ${page.next.at}` };
}

/**
 * Locks a replay that has not ended, and its goal. The goal cannot change until the page is done. The subscriber that
 * matches new events waits too, because it must see if the page has processed its events.
 */
async function lockReplay(tx: Tx, id: string): Promise<OpenReplay | undefined> {
  const [replay] = await tx.org.sql<OpenReplay>(
    `select p.id, p.goal_id, p.goal_revision, p.from_at, p.to_at, cast(p.cursor_at as text) as cursor_at, p.cursor_id, p.scanned, p.blocked_reason,
       g.revision = p.goal_revision and g.archived_at is null as is_current, r.definition
     from goal_replays p join goals g on g.id = p.goal_id
       join goal_revisions r on r.goal_id = p.goal_id and r.revision = p.goal_revision
     where p.organization_id = :org and p.id = :id and p.state in ('queued', 'running')
     for no key update of p, g`,
    { id },
  );
  return replay;
}

async function applyPage(tx: Tx, replay: OpenReplay, page: ComparedPage): Promise<void> {
  const wanted = await withPeople(tx, [...page.added, ...page.changed]);
  const conversions = wanted.map((match): NewConversion => ({
    ...match,
    goalId: replay.goal_id,
    revision: replay.goal_revision,
  }));
  const recorded = await recordConversions(tx, conversions);
  const removed = await deleteConversions(tx, replay.goal_id, page.removed);
  announcePeople(tx, [...recorded.map(({ personId }) => personId), ...removed]);
  const added = recorded.filter(({ isNew }) => isNew).length;
  await advance(tx, replay.id, page.next, {
    scanned: page.scanned,
    added,
    removed: removed.length,
    // Counts a conversion as kept if the subscriber of new events stored it in the meantime.
    kept: page.kept + Math.max(0, page.added.length - added),
    retained: page.retainedWithoutEvent,
  });
}

/**
 * Adds to the counts of a replay and stores its position. If `next` is null, because the replay is at its end, the
 * position is not changed.
 */
export async function advance(
  tx: Tx,
  id: string,
  next: Place | null,
  counts: { scanned: number; added: number; removed: number; kept: number; retained: number },
): Promise<void> {
  await tx.org.sql(
    `update goal_replays set state = 'running', started_at = coalesce(started_at, :now), blocked_reason = null,
       cursor_at = coalesce(cast(:at as timestamptz), cursor_at), cursor_id = coalesce(cast(:after as uuid), cursor_id),
       scanned = scanned + :scanned, added = added + :added, removed = removed + :removed, kept = kept + :kept,
       retained_without_event = retained_without_event + :retained
     where organization_id = :org and id = :id`,
    { id, now: tx.now, at: next?.at ?? null, after: next?.id ?? null, ...counts },
  );
}

async function endReplay(tx: Tx, id: string, state: 'completed' | 'failed', error: string | null): Promise<void> {
  await tx.org.table('goal_replays').where({ id }).update({ state, error, blocked_reason: null, finished_at: tx.now });
}
