import { callAppForTest } from '../domain/connect/app-connections/test-call.ts';
import type { Deps } from '../domain/platform/kernel/context.ts';
import { advanceTestRun } from '../domain/campaigns/test-runs/advance.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { TargetLimits } from '../lib/target-limits.ts';
import type { TestRunActivities } from '../workflows/test-run/contract.ts';
import { callVerb } from './call-verb.ts';
import { assertNotBusy } from './not-yet.ts';

/**
 * Activities of test runs; their emails are sent by activities/deliver.ts.
 * @param parts.appCalls bounds the calls this process has open with customers' apps, by app connection
 */
export function createTestRunActivities(
  deps: Deps,
  { metrics, appCalls }: { metrics: Metrics; appCalls: TargetLimits },
): Omit<TestRunActivities, 'deliverSend'> {
  return {
    advanceTestRun: (args) => callVerb(deps, args, (ctx) => advanceTestRun(ctx, args.testRunId)),

    async callAppForTest(args) {
      const result = await callVerb(deps, args, (ctx) => callAppForTest(ctx, args.stepRunId, appCalls));
      assertNotBusy(metrics, result);
      return { outcome: result.outcome };
    },
  };
}
