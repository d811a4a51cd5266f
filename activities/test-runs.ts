import { activityInfo } from '@temporalio/activity';
import { callAppForTest } from '../domain/app-connections/test-call.ts';
import { systemCtx, type Deps } from '../domain/kernel/context.ts';
import { advanceTestRun } from '../domain/test-runs/advance.ts';
import type { TestRunActivities } from '../workflows/test-run/contract.ts';
import { orBlock } from './blocking.ts';
import { notYet, type EngineParts } from './engine.ts';
import { withPulse } from './pulse.ts';

/** Activities of test runs; their emails are sent by the activity that sends those of campaigns. */
export function createTestRunActivities(
  deps: Deps,
  { metrics, appCalls }: Pick<EngineParts, 'metrics' | 'appCalls'>,
): Omit<TestRunActivities, 'deliverSend'> {
  const ctxOf = (organizationId: string) => {
    const { workflowExecution, activityType } = activityInfo();
    return systemCtx(deps, organizationId, `${workflowExecution?.workflowId ?? ''}/${activityType}`);
  };
  return {
    advanceTestRun: ({ organizationId, testRunId }) =>
      orBlock(deps, organizationId, () => advanceTestRun(ctxOf(organizationId), testRunId)),

    async callAppForTest({ organizationId, stepRunId }) {
      const result = await orBlock(deps, organizationId, () =>
        withPulse(() => callAppForTest(ctxOf(organizationId), stepRunId, appCalls)),
      );
      if (result.outcome === 'busy') {
        metrics.targetBusy.inc({ resource: 'apps' });
        throw notYet('app_busy', 'the app has as many calls under way as it may', result.retryInMs);
      }
      return { outcome: result.outcome };
    },
  };
}
