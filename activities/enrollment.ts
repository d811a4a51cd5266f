import { ApplicationFailure } from '@temporalio/common';
import { callApp } from '../domain/connect/app-connections/call.ts';
import { advanceEnrollment } from '../domain/sending/enrollment/advance.ts';
import type { Deps } from '../domain/platform/kernel/context.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { TargetLimits } from '../lib/target-limits.ts';
import type { EnrollmentActivities } from '../workflows/enrollment/contract.ts';
import { callVerb } from './call-verb.ts';
import { assertNotBusy } from './not-yet.ts';

/**
 * Activities of a contact's way through a campaign; its emails are sent by activities/deliver.ts.
 * @param parts.appCalls bounds the calls this process has open with customers' apps, by app connection
 */
export function createEnrollmentActivities(
  deps: Deps,
  { metrics, appCalls }: { metrics: Metrics; appCalls: TargetLimits },
): Omit<EnrollmentActivities, 'deliverSend'> {
  return {
    advanceEnrollment({ organizationId, ...contact }) {
      return callVerb(deps, { organizationId }, (ctx) => advanceEnrollment(ctx, contact));
    },

    async callApp(args) {
      const result = await callVerb(deps, args, (ctx) => callApp(ctx, args.stepRunId, appCalls));
      assertNotBusy(metrics, result);
      if (result.outcome === 'retry')
        throw ApplicationFailure.create({
          message: result.detail ?? 'the app did not answer',
          type: 'app_action_retry',
        });
      return { outcome: result.outcome };
    },
  };
}
