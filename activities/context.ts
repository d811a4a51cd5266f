import { activityInfo } from '@temporalio/activity';
import { systemCtx, type Ctx, type Deps } from '../domain/platform/kernel/context.ts';

/**
 * The context in which an activity calls its verb: that of one organization. As request id it has the run and the activity, by which audit rows and
 * log lines lead back to Temporal.
 */
export function contextOf(deps: Deps, organizationId: string): Ctx {
  const { workflowExecution, activityType } = activityInfo();
  return systemCtx(deps, organizationId, `${workflowExecution?.workflowId ?? 'activity'}/${activityType}`);
}
