import { advanceAutomation } from '../domain/automations/advance.ts';
import { callAutomationApp } from '../domain/automations/call.ts';
import type { Deps } from '../domain/kernel/context.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { TargetLimits } from '../lib/target-limits.ts';
import type { AutomationActivities } from '../workflows/automation/contract.ts';
import { orBlock } from './blocking.ts';
import { contextOf } from './context.ts';
import { assertNotBusy } from './not-yet.ts';
import { withPulse } from './pulse.ts';

/**
 * The activities of runs of automations.
 * @param parts.appCalls bounds the calls this process has open with customers' apps, by app connection
 */
export function createAutomationActivities(
  deps: Deps,
  { metrics, appCalls }: { metrics: Metrics; appCalls: TargetLimits },
): AutomationActivities {
  const ctxOf = (organizationId: string) => contextOf(deps, organizationId);
  return {
    advanceAutomation: ({ organizationId, runId }) =>
      orBlock(deps, organizationId, () => advanceAutomation(ctxOf(organizationId), runId)),
    async callAutomationApp({ organizationId, ...node }) {
      const result = await orBlock(deps, organizationId, () =>
        withPulse(() => callAutomationApp(ctxOf(organizationId), node, appCalls)),
      );
      assertNotBusy(metrics, result);
      return { outcome: result.outcome };
    },
  };
}
