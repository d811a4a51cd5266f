import type { z } from 'zod';
import type { Goal, GoalRevision } from '../../../domain/reporting/goals/goals.ts';
import type { GoalPreview } from '../../../domain/reporting/goals/preview.ts';
import type { GoalReplay, ReplayPreview } from '../../../domain/reporting/goals/replays.ts';
import { runUrl } from '../../../domain/platform/run-url.ts';
import { goalReplayWorkflow } from '../../../workflows/goal-replay/contract.ts';
import type { Ctx } from '../../../domain/platform/kernel/context.ts';
import { iso } from '../../http/schemas.ts';
import type * as schemas from './schemas.ts';
import { presentBlocked } from '../../http/stored-message.ts';

/** Returns a goal with its current definition. */
export function presentGoal(goal: Goal): z.input<typeof schemas.goal> {
  const { id, name, kind, is_primary, definition, revision } = goal;
  return {
    id,
    name,
    kind,
    is_primary,
    definition,
    revision,
    archived_at: iso(goal.archived_at),
    created_at: iso(goal.created_at),
    updated_at: iso(goal.updated_at),
  };
}

/**
 * Returns one goal with all its past definitions, so that a conversion can be traced to the definition that matched it.
 */
export function presentGoalDetail(found: {
  goal: Goal;
  revisions: readonly GoalRevision[];
}): z.input<typeof schemas.goalDetail> {
  return {
    ...presentGoal(found.goal),
    revisions: found.revisions.map(({ revision, definition, created_at, created_by }) => ({
      revision,
      definition,
      created_at: iso(created_at),
      created_by,
    })),
  };
}

/**
 * Returns the events in a period that a goal's definition would match. Used before the goal exists. Amounts are in
 * minor units.
 */
export function presentGoalPreview(preview: GoalPreview): z.input<typeof schemas.goalPreview> {
  const { scanned, matched, people, withValue, values } = preview;
  return {
    from: iso(preview.from),
    to: iso(preview.to),
    scanned,
    matched,
    people,
    with_value: withValue,
    values: values.map(({ currency, amountMinor, conversions }) => ({
      currency,
      amount_minor: amountMinor,
      conversions,
    })),
  };
}

/** Returns the conversions that a replay would add, remove and keep. No conversion has been changed. */
export function presentReplayPreview(preview: ReplayPreview): z.input<typeof schemas.replayPreview> {
  return {
    scanned: preview.scanned,
    would_add: preview.wouldAdd,
    would_remove: preview.wouldRemove,
    would_keep: preview.wouldKeep,
    retained_without_event: preview.retainedWithoutEvent,
  };
}

/** Returns a replay with its progress, and a link to its workflow if the Temporal UI is configured. */
export function presentReplay(
  replay: GoalReplay,
  { config, language }: Pick<Ctx, 'config' | 'language'>,
): z.input<typeof schemas.replay> {
  const { id, goal_id, goal_revision, state, error, scanned, added, removed, kept, retained_without_event } = replay;
  return {
    id,
    goal_id,
    goal_revision,
    from: iso(replay.from_at),
    to: iso(replay.to_at),
    state,
    error,
    reached: iso(replay.cursor_at),
    scanned,
    added,
    removed,
    kept,
    retained_without_event,
    passed_over: replay.passed_over,
    ...presentBlocked(replay, language),
    ...runUrl(config, goalReplayWorkflow, { replayId: id }),
    created_at: iso(replay.created_at),
    started_at: iso(replay.started_at),
    finished_at: iso(replay.finished_at),
  };
}
