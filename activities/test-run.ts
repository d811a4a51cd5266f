import { advanceTestRun } from '../domain/campaigns/test-runs/advance.ts';
import { callAppForTest } from '../domain/connect/app-connections/test-call.ts';
import { testRunWorkflow, type TestRunActivities } from '../workflows/test-run/contract.ts';
import { callVerb } from './call-verb.ts';
import { family } from './family.ts';
import { assertNotBusy } from './retry-later.ts';

/** Workflow and activities for test runs. The activity that sends the emails belongs to `enrollment`. */
export const testRun = family<Omit<TestRunActivities, 'deliverSend'>>({
  contract: testRunWorkflow,
  queue: { advanceTestRun: 'workflows', callAppForTest: 'apps' },
  activities: ({ deps, metrics, appCalls }) => ({
    advanceTestRun: (args) => callVerb(deps, args, (ctx) => advanceTestRun(ctx, args.testRunId)),

    async callAppForTest(args) {
      const result = await callVerb(deps, args, (ctx) => callAppForTest(ctx, args.stepRunId, appCalls));
      assertNotBusy(metrics, result);
      return { outcome: result.outcome };
    },
  }),
  mustBeOpen: {
    table: 'test_runs',
    open: `state in ('running', 'waiting_for_event')`,
    // The test run may have been cancelled while its email was being sent. The workflow must still settle that email.
    further: `select distinct r.organization_id, r.id
      from sends s join test_run_steps t on t.id = s.id join test_runs r on r.id = t.test_run_id
      where s.state = 'sending' and r.state not in ('running', 'waiting_for_event')`,
  },
  blocked: { taskType: 'test_run', isStamped: true },
});
