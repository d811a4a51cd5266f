import type { Ctx, Deps } from '../domain/platform/kernel/context.ts';
import { settleRunApproval } from '../domain/campaigns/runs/approval.ts';
import { launchRun } from '../domain/campaigns/runs/launch.ts';
import { beginRun, preflightRun } from '../domain/campaigns/runs/preflight.ts';
import { toReport, type RunRow } from '../domain/campaigns/runs/states.ts';
import type { RunActivities, RunArgs } from '../workflows/run/contract.ts';
import { callVerb } from './call-verb.ts';

/** Activities of an agent's run: each does what the state of the run asks for, and says what that led to. */
export function createRunActivities(deps: Deps): RunActivities {
  const step = (verb: (ctx: Ctx, runId: string) => Promise<RunRow>) => (args: RunArgs) =>
    callVerb(deps, args, async (ctx) => toReport(await verb(ctx, args.runId)));
  return {
    beginRun: step(beginRun),
    preflightRun: step(preflightRun),
    settleApproval: step(settleRunApproval),
    launchRun: step(launchRun),
  };
}
