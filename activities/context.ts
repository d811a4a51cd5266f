import { activityInfo } from '@temporalio/activity';
import { systemCtx, type Ctx, type Deps } from '../domain/platform/kernel/context.ts';

/**
 * Returns the context of one organization in which an activity calls its verb. Its request id names the workflow and
 * the activity, so that audit rows and log lines refer to Temporal.
 */
export function contextOf(deps: Deps, organizationId: string): Ctx {
  const { workflowExecution, activityType } = activityInfo();
  return systemCtx(deps, organizationId, `${workflowExecution?.workflowId ?? 'activity'}/${activityType}`);
}
