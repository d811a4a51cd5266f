import type { TargetLimits } from '../../../lib/target-limits.ts';
import { organizationOf, type Ctx } from '../../platform/kernel/context.ts';
import { CALL_IS_FREE, CALL_RECHECK_MS, callClaimMs, CLAIM_CALL } from '../../platform/kernel/call-claim.ts';
import { reader, singleStatement, transact } from '../../platform/kernel/transact.ts';
import { lockTestRunOf, settleTestStep, type TestStepResult } from '../../sending/control/test-runs.ts';
import { readTestCall } from './action-call.ts';
import type { Answer } from './answer.ts';
import { askApp, issueOf, NO_CONNECTION, PERMIT_WAIT_MS, type AppBusy, type CallResult } from './call.ts';

/**
 * Calls the customer's app for the app_action step of a test run, marked `run_mode: test`, and stores the answer with
 * the step. A failed call is not retried: the test shows the failure immediately, and takes the branch for outcome
 * `error` if there is one. Calling again is safe: the app gets the same event id, and answers after the first stored
 * one are ignored.
 * @param limits limits for the calls that this process has open with one app connection
 */
export async function callAppForTest(ctx: Ctx, stepId: string, limits: TargetLimits): Promise<CallResult | AppBusy> {
  const call = await readTestCall(reader(ctx), stepId);
  if (!call) return { outcome: 'stale' };
  const { connection } = call;
  let answer: Answer = NO_CONNECTION;
  if (connection) {
    const permit = await limits.acquireSoon(connection.id, organizationOf(ctx), PERMIT_WAIT_MS);
    if ('retryInMs' in permit) return { outcome: 'busy', retryInMs: permit.retryInMs };
    if (!(await claimTestCall(ctx, stepId))) {
      permit.release('unused');
      return { outcome: 'under_way', retryInMs: CALL_RECHECK_MS };
    }
    answer = await askApp(ctx, call, connection, permit);
  }
  const result: TestStepResult = answer.ok
    ? { state: 'completed', outcome: 'success', output: answer.output }
    : {
        state: 'completed',
        outcome: 'error',
        detail: answer.said,
        error: issueOf(answer),
      };
  return transact(ctx, async (tx) => {
    await lockTestRunOf(tx, stepId);
    const stored = await settleTestStep(tx, stepId, { ...result, attempts: call.attempts + 1 });
    return stored ? { outcome: answer.ok ? 'success' : 'error' } : { outcome: 'stale' };
  });
}

/** Claims the call. Returns false if another attempt's call may be in progress. */
async function claimTestCall(ctx: Ctx, stepId: string): Promise<boolean> {
  const rows = await singleStatement(ctx).sql(
    `update test_run_steps set ${CLAIM_CALL}
     where organization_id = :org and id = :id and state = 'running' and ${CALL_IS_FREE} returning id`,
    { id: stepId, claimMs: callClaimMs(ctx.config.APP_ACTION_TIMEOUT_MS) },
  );
  return rows.length > 0;
}
