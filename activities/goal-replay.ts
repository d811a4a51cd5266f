import { passOverEvents } from '../domain/reporting/goals/pass-over.ts';
import { replayPage } from '../domain/reporting/goals/replay-page.ts';
import type { Deps } from '../domain/platform/kernel/context.ts';
import type { GoalReplayActivities } from '../workflows/goal-replay/contract.ts';
import { block, orGiveUp } from './blocking.ts';
import { contextOf } from './context.ts';
import { withPulse } from './pulse.ts';

/**
 * The activity of replays: a page is one transaction, so an attempt whose worker died is repeated and repeats nothing. Of a page that kept failing the event that is
 * at fault is passed over; where the fault is not in an event the run is blocked.
 */
export function createGoalReplayActivities(deps: Deps): GoalReplayActivities {
  return {
    replayPage: ({ organizationId, replayId }) =>
      orGiveUp(
        deps,
        () => withPulse(() => replayPage(contextOf(deps, organizationId), replayId)),
        async (error) =>
          (await withPulse(() => passOverEvents(contextOf(deps, organizationId), replayId))) ??
          block(deps, organizationId, error),
      ),
  };
}
