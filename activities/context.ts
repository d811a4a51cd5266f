import { activityInfo } from '@temporalio/activity';
import { systemCtx, type Ctx, type Deps } from '../domain/platform/kernel/context.ts';

/**
 * Returns the context of one organization for the domain functions of an activity. The request id contains the ids of
 * the workflow and the activity, so that audit rows and log lines refer to Temporal.
 */
export function contextOf(deps: Deps, organizationId: string): Ctx {
  const { workflowExecution, activityType } = activityInfo();
  return systemCtx(deps, organizationId, `${workflowExecution?.workflowId ?? 'activity'}/${activityType}`);
}
