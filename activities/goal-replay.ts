import { replayPage } from '../domain/goals/replay-page.ts';
import type { Deps } from '../domain/kernel/context.ts';
import type { GoalReplayActivities } from '../workflows/goal-replay/contract.ts';
import { orBlock } from './blocking.ts';
import { contextOf } from './context.ts';
import { withPulse } from './pulse.ts';

/** The activity of replays: a page is one transaction, so an attempt whose worker died is repeated and repeats nothing. */
export function createGoalReplayActivities(deps: Deps): GoalReplayActivities {
  return {
    replayPage: ({ organizationId, replayId }) =>
      orBlock(deps, organizationId, () => withPulse(() => replayPage(contextOf(deps, organizationId), replayId))),
  };
}
