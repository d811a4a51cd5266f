import type { Row } from '../../../db/rows.ts';
import { across } from '../../../db/across.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { AppError, notFound, refuseProblems, type Problem } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import { signalOpen, start } from '../../../temporal/dispatch.ts';
import { goalReplayWorkflow } from '../../../workflows/goal-replay/contract.ts';
import { organizationOf, systemCtx, type Ctx, type Deps } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { dropDeadLetter, REPLAY } from '../../platform/dead-letters.ts';
import { compareEvents, type Comparison, type Place } from './compare.ts';
import { archived, findGoal, lockGoal, type Goal } from './goals.ts';
import { findSkippedEvent, readSkippedEvents } from './skipped-events.ts';

/** Maximum range (days) of a replay. */
const MAX_RANGE_DAYS = 366;
const LISTED = 20;
/** Number of events and conversions per statement of a preview. `MAX_PREVIEWED` limits the whole preview. */
const PREVIEW_PAGE = 20_000;
const MAX_PREVIEWED = 2_000_000;

export interface GoalReplay extends Omit<Row<'goal_replays'>, 'organization_id'> {
  /** Ids of events that failed repeatedly and were skipped. */
  passed_over: string[];
}

/** A range of event times. The end is exclusive. */
interface ReplayRange {
  from: Date;
  to: Date;
}

/** Effects that a replay would have. */
export interface ReplayPreview {
  /** Number of events compared with the definition. */
  scanned: number;
  wouldAdd: number;
  wouldRemove: number;
  wouldKeep: number;
  /** Number of conversions whose event was deleted after its retention. Such conversions are kept. */
  retainedWithoutEvent: number;
}

/** Returns problems of a replay's range. */
export function rangeProblems({ from, to }: Partial<ReplayRange>): Problem[] {
  if (!from || !to) return [];
  if (from >= to) return [{ path: 'body.to', message: message('reporting.not_after_from') }];
  if (to.getTime() - from.getTime() > MAX_RANGE_DAYS * DAY_MS)
    return [{ path: 'body.to', message: message('reporting.days_after_from', { max: MAX_RANGE_DAYS }) }];
  return [];
}

/**
 * Returns the effects of a replay of the range. Changes no data.
 * @throws AppError not_found; conflict when the goal is archived; bad_request for an invalid range, or with more than
 * two million events
 */
export async function previewReplay(ctx: Ctx, goalId: string, range: ReplayRange): Promise<ReplayPreview> {
  refuseProblems(rangeProblems(range));
  const org = reader(ctx);
  const goal = await findGoal(org, goalId);
  if (goal.archived_at) throw archived();
  const counts: ReplayPreview = { scanned: 0, wouldAdd: 0, wouldRemove: 0, wouldKeep: 0, retainedWithoutEvent: 0 };
  for await (const page of comparePages(org, comparisonOf(goal, range))) {
    counts.scanned += page.scanned;
    counts.wouldAdd += page.added.length;
    counts.wouldRemove += page.removed.length;
    counts.wouldKeep += page.kept;
    counts.retainedWithoutEvent += page.retainedWithoutEvent;
  }
  return counts;
}

/**
 * Yields every page of a comparison in order, for previews.
 * @throws AppError bad_request after two million events
 */
export async function* comparePages(org: OrgScope, comparison: Comparison) {
  let after: Place | null = null;
  let seen = 0;
  do {
    const page = await compareEvents(org, comparison, after, PREVIEW_PAGE);
    yield page;
    after = page.next;
    seen += PREVIEW_PAGE;
    if (after && seen >= MAX_PREVIEWED)
      throw new AppError('bad_request', message('reporting.preview_too_large', { max: MAX_PREVIEWED }), {
        fix: message('reporting.preview_too_large.fix'),
      });
  } while (after);
}

/**
 * Starts a replay: compares past events of the range with the current definition. The workflow `goal-replay/{replayId}`
 * processes it page by page.
 * @throws AppError not_found; bad_request for the range; conflict when the goal is archived or has a replay that has
 * not ended
 */
export async function startReplay(ctx: Ctx, goalId: string, range: ReplayRange): Promise<GoalReplay> {
  refuseProblems(rangeProblems(range));
  return transact(ctx, async (tx) => findReplay(tx.org, goalId, await beginReplay(tx, goalId, range)));
}

/**
 * Replays a goal at the time of an event that a replay skipped, within the caller's transaction.
 * @param taskId id in the event's dead letter
 * @returns false when the event or the goal is deleted
 * @throws AppError conflict while the goal has a replay that has not ended
 */
export async function replaySkippedEvent(tx: Tx, taskId: string): Promise<boolean> {
  const found = await findSkippedEvent(tx, taskId);
  if (!found) return false;
  const { goal_id: goalId, occurred_at: from } = found;
  await beginReplay(tx, goalId, { from, to: new Date(from.getTime() + 1) });
  return true;
}

/** Stores a replay and starts its workflow. Returns its id. */
async function beginReplay(tx: Tx, goalId: string, { from, to }: ReplayRange): Promise<string> {
  const { revision } = await lockGoal(tx, goalId);
  const id = newId();
  await tx.org.insert('goal_replays', {
    id,
    goal_id: goalId,
    goal_revision: revision,
    from_at: from,
    to_at: to,
    state: 'queued',
    created_at: tx.now,
  });
  tx.intend(start(goalReplayWorkflow, { organizationId: tx.org.organizationId, replayId: id }));
  tx.audit({
    action: 'replay',
    entityType: 'goal',
    entityId: goalId,
    metadata: { replay_id: id, from: from.toISOString(), to: to.toISOString(), revision },
  });
  return id;
}

/**
 * Lists the 20 most recent replays of a goal.
 * @throws AppError not_found
 */
export async function listReplays(ctx: Ctx, goalId: string): Promise<GoalReplay[]> {
  const org = reader(ctx);
  await findGoal(org, goalId);
  const rows = await org.table('goal_replays').where({ goal_id: goalId }).orderBy('id', 'desc').limit(LISTED);
  return withSkippedEvents(org, rows);
}

/** @throws AppError not_found */
export async function getReplay(ctx: Ctx, goalId: string, replayId: string): Promise<GoalReplay> {
  const org = reader(ctx);
  await findGoal(org, goalId);
  return findReplay(org, goalId, replayId);
}

/**
 * Cancels a replay for a person and returns its new state. A cancelled replay stays unchanged.
 * @throws AppError not_found; conflict when it has ended for another reason
 */
export async function cancelReplayOf(ctx: Ctx, goalId: string, replayId: string): Promise<GoalReplay> {
  await getReplay(ctx, goalId, replayId);
  await cancelReplay(ctx, replayId);
  const replay = await getReplay(ctx, goalId, replayId);
  if (replay.state !== 'cancelled')
    throw new AppError('conflict', message('reporting.replay_ended'), {
      fix: message('reporting.replay_ended.fix'),
    });
  return replay;
}

/**
 * Cancels a replay that has not ended: no further page is processed, and the effects of processed pages stay.
 * @returns false when it has ended or is unknown
 */
export async function cancelReplay(ctx: Ctx, replayId: string): Promise<boolean> {
  return transact(ctx, async (tx) => {
    const cancelled = isUuid(replayId)
      ? await tx.org
          .table('goal_replays')
          .where({ id: replayId })
          .whereIn('state', ['queued', 'running'])
          .update({ state: 'cancelled', blocked_reason: null, finished_at: tx.now })
          .returning(['goal_id'])
      : [];
    const [replay] = cancelled;
    if (!replay) return false;
    await dropDeadLetter(tx, REPLAY, replayId);
    // Signals the workflow, which may be blocked and waiting, so that it ends now.
    tx.intend(
      signalOpen(goalReplayWorkflow, { organizationId: organizationOf(ctx), replayId }, 'retry', { cause: 'operator' }),
    );
    tx.audit({
      action: 'cancel_replay',
      entityType: 'goal',
      entityId: replay.goal_id,
      metadata: { replay_id: replayId },
    });
    return true;
  });
}

/**
 * Cancels a replay in any organization, for the operator.
 * @returns false when it has ended or is unknown
 */
export async function cancelReplayById(deps: Deps, replayId: string): Promise<boolean> {
  const [row] = isUuid(replayId)
    ? await across(deps.db, 'operator').sql<{ organization_id: string }>(
        'select organization_id from goal_replays where id = :replayId',
        { replayId },
      )
    : [];
  return row !== undefined && cancelReplay(systemCtx(deps, row.organization_id, 'heron goal-replay'), replayId);
}

/** Returns the parameters with which a goal's replay compares events and conversions. */
function comparisonOf(goal: Goal, range: ReplayRange): Comparison {
  return { goalId: goal.id, revision: goal.revision, definition: goal.definition, ...range };
}

async function findReplay(org: OrgScope, goalId: string, id: string): Promise<GoalReplay> {
  const row = isUuid(id) ? await org.table('goal_replays').where({ id, goal_id: goalId }).first() : undefined;
  if (!row) throw notFound('replay');
  const [replay] = await withSkippedEvents(org, [row]);
  return replay!;
}

async function withSkippedEvents(
  org: OrgScope,
  rows: readonly Omit<GoalReplay, 'passed_over'>[],
): Promise<GoalReplay[]> {
  const passedOver = await readSkippedEvents(
    org,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({ ...row, passed_over: passedOver.get(row.id) ?? [] }));
}
