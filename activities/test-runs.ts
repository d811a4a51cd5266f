import { callAppForTest } from '../domain/app-connections/test-call.ts';
import type { Deps } from '../domain/kernel/context.ts';
import { advanceTestRun } from '../domain/test-runs/advance.ts';
import type { TestRunActivities } from '../workflows/test-run/contract.ts';
import { orBlock } from './blocking.ts';
import { contextOf } from './context.ts';
import type { EngineParts } from './engine.ts';
import { assertNotBusy } from './not-yet.ts';
import { withPulse } from './pulse.ts';

/** Activities of test runs; their emails are sent by the activity that sends those of campaigns. */
export function createTestRunActivities(
  deps: Deps,
  { metrics, appCalls }: Pick<EngineParts, 'metrics' | 'appCalls'>,
): Omit<TestRunActivities, 'deliverSend'> {
  const ctxOf = (organizationId: string) => contextOf(deps, organizationId);
  return {
    advanceTestRun: ({ organizationId, testRunId }) =>
      orBlock(deps, organizationId, () => advanceTestRun(ctxOf(organizationId), testRunId)),

    async callAppForTest({ organizationId, stepRunId }) {
      const result = await orBlock(deps, organizationId, () =>
        withPulse(() => callAppForTest(ctxOf(organizationId), stepRunId, appCalls)),
      );
      assertNotBusy(metrics, result);
      return { outcome: result.outcome };
    },
  };
}
