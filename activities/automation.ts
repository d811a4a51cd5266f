import { advanceAutomation } from '../domain/connect/automations/advance.ts';
import { callAutomationApp } from '../domain/connect/automations/call.ts';
import type { Deps } from '../domain/platform/kernel/context.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { TargetLimits } from '../lib/target-limits.ts';
import type { AutomationActivities } from '../workflows/automation/contract.ts';
import { callVerb } from './call-verb.ts';
import { assertNotBusy } from './not-yet.ts';

/**
 * The activities of runs of automations.
 * @param parts.appCalls bounds the calls this process has open with customers' apps, by app connection
 */
export function createAutomationActivities(
  deps: Deps,
  { metrics, appCalls }: { metrics: Metrics; appCalls: TargetLimits },
): AutomationActivities {
  return {
    advanceAutomation: (args) => callVerb(deps, args, (ctx) => advanceAutomation(ctx, args.runId)),

    async callAutomationApp({ organizationId, ...node }) {
      const result = await callVerb(deps, { organizationId }, (ctx) => callAutomationApp(ctx, node, appCalls));
      assertNotBusy(metrics, result);
      return { outcome: result.outcome };
    },
  };
}
