import { runLaunch } from '../domain/campaigns/runs/launch-approval.ts';
import { launchRun } from '../domain/campaigns/runs/launch.ts';
import { advanceRun, preflightRun } from '../domain/campaigns/runs/preflight.ts';
import { toReport, type RunRow } from '../domain/campaigns/runs/states.ts';
import type { Ctx } from '../domain/platform/kernel/context.ts';
import { runWorkflow, type RunActivities, type RunArgs } from '../workflows/run/contract.ts';
import { callVerb } from './call-verb.ts';
import { family, type ActivityParts } from './family.ts';

/** Runs of agents until their campaign is launched. */
export const run = family<RunActivities>({
  contract: runWorkflow,
  queue: { advanceRun: 'workflows', preflightRun: 'batch', launchRun: 'batch' },
  activities,
  // A run that is active or paused follows its campaign without a workflow.
  mustBeOpen: { table: 'runs', open: `state in ('queued', 'preflighting', 'awaiting_approval', 'launching')` },
  blocked: { taskType: 'run', isStamped: true },
  approval: runLaunch,
});

/** Each activity does what the state of the run asks for, and returns the state that follows. */
function activities({ deps }: ActivityParts): RunActivities {
  const step = (verb: (ctx: Ctx, runId: string) => Promise<RunRow>) => (args: RunArgs) =>
    callVerb(deps, args, async (ctx) => toReport(await verb(ctx, args.runId)));
  return {
    advanceRun: step(advanceRun),
    preflightRun: step(preflightRun),
    launchRun: step(launchRun),
  };
}
