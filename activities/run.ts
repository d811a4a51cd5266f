import { runLaunch } from '../domain/campaigns/runs/launch-approval.ts';
import { launchRun } from '../domain/campaigns/runs/launch.ts';
import { advanceRun, preflightRun } from '../domain/campaigns/runs/preflight.ts';
import { toReport, type RunRow } from '../domain/campaigns/runs/states.ts';
import type { Ctx } from '../domain/platform/kernel/context.ts';
import { runWorkflow, type RunActivities, type RunArgs } from '../workflows/run/contract.ts';
import { callVerb } from './call-verb.ts';
import { family, type ActivityParts } from './family.ts';

/** Workflow and activities for agent runs, up to the launch of their campaign. */
export const run = family<RunActivities>({
  contract: runWorkflow,
  queue: { advanceRun: 'workflows', preflightRun: 'batch', launchRun: 'batch' },
  activities,
  // A run in state `active` or `paused` changes with its campaign and needs no workflow.
  mustBeOpen: { table: 'runs', open: `state in ('queued', 'preflighting', 'awaiting_approval', 'launching')` },
  blocked: { taskType: 'run', isStamped: true },
  approval: runLaunch,
});

/** Each activity performs the step that the run's state requires and returns the next state. */
function activities({ deps }: ActivityParts): RunActivities {
  const step = (verb: (ctx: Ctx, runId: string) => Promise<RunRow>) => (args: RunArgs) =>
    callVerb(deps, args, async (ctx) => toReport(await verb(ctx, args.runId)));
  return {
    advanceRun: step(advanceRun),
    preflightRun: step(preflightRun),
    launchRun: step(launchRun),
  };
}
