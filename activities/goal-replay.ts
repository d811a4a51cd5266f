import { REPLAY, REPLAY_EVENT } from '../domain/platform/dead-letters.ts';
import { passOverEvents } from '../domain/reporting/goals/pass-over.ts';
import { replayPage } from '../domain/reporting/goals/replay-page.ts';
import { replayPassedOver } from '../domain/reporting/goals/replays.ts';
import { goalReplayWorkflow, type GoalReplayActivities } from '../workflows/goal-replay/contract.ts';
import { block, orGiveUp } from './blocking.ts';
import { contextOf } from './context.ts';
import { family } from './family.ts';
import { withPulse } from './pulse.ts';

/**
 * Replays of goals. A page is one transaction, so an attempt whose worker died is repeated and repeats nothing. Of a page
 * that kept failing, the event at fault is passed over; where the fault is not in an event, the run is blocked.
 */
export const goalReplay = family<GoalReplayActivities>({
  contract: goalReplayWorkflow,
  queue: 'batch',
  activities: ({ deps }) => ({
    replayPage: ({ organizationId, replayId }) =>
      orGiveUp(
        deps,
        () => withPulse(() => replayPage(contextOf(deps, organizationId), replayId)),
        async (error) =>
          (await withPulse(() => passOverEvents(contextOf(deps, organizationId), replayId))) ??
          block(deps, organizationId, error),
      ),
  }),
  mustBeOpen: { table: 'goal_replays', open: `state in ('queued', 'running')` },
  blocked: { taskType: REPLAY },
  // An event that a replay went on without: only a person has it tried again.
  deadLetters: [{ taskType: REPLAY_EVENT, retry: replayPassedOver }],
});
