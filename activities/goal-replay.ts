import { REPLAY, REPLAY_EVENT } from '../domain/platform/dead-letters.ts';
import { skipFailingEvents } from '../domain/reporting/goals/skip-events.ts';
import { replayPage } from '../domain/reporting/goals/replay-page.ts';
import { replaySkippedEvent } from '../domain/reporting/goals/replays.ts';
import { goalReplayWorkflow, type GoalReplayActivities } from '../workflows/goal-replay/contract.ts';
import { failAsBlocked, runOrGiveUp } from './blocking.ts';
import { contextOf } from './context.ts';
import { family } from './family.ts';
import { withHeartbeat } from './heartbeat.ts';

/**
 * Workflow and activities for goal replays. A page is one transaction, so that no event is counted twice if a dead
 * worker's attempt is repeated. If a page keeps failing, the event that causes it is skipped. If no single event causes
 * the failure, the workflow is blocked.
 */
export const goalReplay = family<GoalReplayActivities>({
  contract: goalReplayWorkflow,
  queue: 'batch',
  activities: ({ deps }) => ({
    replayPage: ({ organizationId, replayId }) =>
      runOrGiveUp(
        deps,
        () => withHeartbeat(() => replayPage(contextOf(deps, organizationId), replayId)),
        async (error) =>
          (await withHeartbeat(() => skipFailingEvents(contextOf(deps, organizationId), replayId))) ??
          failAsBlocked(deps, organizationId, error),
      ),
  }),
  mustBeOpen: { table: 'goal_replays', open: `state in ('queued', 'running')` },
  blocked: { taskType: REPLAY },
  // An event that a replay skipped. Only a person can retry it.
  deadLetters: [{ taskType: REPLAY_EVENT, retry: replaySkippedEvent }],
});
