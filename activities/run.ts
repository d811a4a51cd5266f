import { activityInfo } from '@temporalio/activity';
import { systemCtx, type Deps } from '../domain/kernel/context.ts';
import { settleRunApproval } from '../domain/runs/approval.ts';
import { launchRun } from '../domain/runs/launch.ts';
import { beginRun, preflightRun } from '../domain/runs/preflight.ts';
import { toReport } from '../domain/runs/states.ts';
import type { RunRow } from '../domain/runs/states.ts';
import type { RunActivities, RunArgs } from '../workflows/run/contract.ts';
import type { Ctx } from '../domain/kernel/context.ts';
import { orBlock } from './blocking.ts';
import { withPulse } from './pulse.ts';

/** Activities of an agent's run: each does what the state of the run asks for, and says what that led to. */
export function createRunActivities(deps: Deps): RunActivities {
  const step =
    (verb: (ctx: Ctx, runId: string) => Promise<RunRow>) =>
    ({ organizationId, runId }: RunArgs) =>
      orBlock(deps, organizationId, async () => {
        const workflowId = activityInfo().workflowExecution?.workflowId ?? 'run';
        return toReport(await withPulse(() => verb(systemCtx(deps, organizationId, workflowId), runId)));
      });
  return {
    beginRun: step(beginRun),
    preflightRun: step(preflightRun),
    settleApproval: step(settleRunApproval),
    launchRun: step(launchRun),
  };
}
