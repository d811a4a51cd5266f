import { activityInfo } from '@temporalio/activity';
import { advanceAutomation } from '../domain/automations/advance.ts';
import { callAutomationApp } from '../domain/automations/call.ts';
import { systemCtx, type Deps } from '../domain/kernel/context.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { TargetLimits } from '../lib/target-limits.ts';
import type { AutomationActivities } from '../workflows/automation/contract.ts';
import { orBlock } from './blocking.ts';
import { notYet } from './engine.ts';
import { withPulse } from './pulse.ts';

/**
 * The activities of runs of automations.
 * @param parts.appCalls bounds the calls this process has open with customers' apps, by app connection
 */
export function createAutomationActivities(
  deps: Deps,
  { metrics, appCalls }: { metrics: Metrics; appCalls: TargetLimits },
): AutomationActivities {
  const ctxOf = (organizationId: string) =>
    systemCtx(deps, organizationId, activityInfo().workflowExecution?.workflowId ?? 'automation-run');
  return {
    advanceAutomation: ({ organizationId, runId }) =>
      orBlock(deps, organizationId, () => advanceAutomation(ctxOf(organizationId), runId)),
    async callAutomationApp({ organizationId, ...node }) {
      const result = await orBlock(deps, organizationId, () =>
        withPulse(() => callAutomationApp(ctxOf(organizationId), node, appCalls)),
      );
      if (result.outcome === 'busy') {
        metrics.targetBusy.inc({ resource: 'apps' });
        throw notYet('app_busy', 'the app has as many calls under way as it may', result.retryInMs);
      }
      return { outcome: result.outcome };
    },
  };
}
