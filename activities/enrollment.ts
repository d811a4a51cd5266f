import { ApplicationFailure } from '@temporalio/common';
import { campaignLeads } from '../domain/campaigns/leads-approval.ts';
import { callApp } from '../domain/connect/app-connections/call.ts';
import { FAILED_EMAIL, UNCERTAIN_EMAIL } from '../domain/platform/dead-letters.ts';
import { blockEnrollment, retryEnrollment } from '../domain/sending/control/blocked-enrollment.ts';
import { advanceEnrollment } from '../domain/sending/enrollment/advance.ts';
import { retryFailedEmail, sendUncertainAgain } from '../domain/sending/replay.ts';
import { enrollmentWorkflow, type EnrollmentActivities } from '../workflows/enrollment/contract.ts';
import { callVerb } from './call-verb.ts';
import { createDeliverSend } from './deliver.ts';
import { family, type ActivityParts } from './family.ts';
import { assertNotBusy } from './retry-later.ts';

/** Workflow and activities for enrollments: contacts in a campaign. */
export const enrollment = family<EnrollmentActivities>({
  contract: enrollmentWorkflow,
  queue: { advanceEnrollment: 'workflows', deliverSend: 'mail', callApp: 'apps' },
  activities,
  mustBeOpen: {
    table: 'enrollments',
    open: `state = 'active'`,
    // The lead may have ended while its email was being sent. The workflow must still settle that email.
    further: `select distinct e.organization_id, e.campaign_id, e.contact_id
      from sends s join enrollments e on e.id = s.enrollment_id where s.state = 'sending' and e.state <> 'active'`,
  },
  blocked: { taskType: 'enrollment_run', block: blockEnrollment, retry: retryEnrollment },
  deadLetters: [
    { taskType: FAILED_EMAIL, retry: retryFailedEmail },
    { taskType: UNCERTAIN_EMAIL, retry: sendUncertainAgain },
  ],
  approval: campaignLeads,
});

function activities(parts: ActivityParts): EnrollmentActivities {
  const { deps, metrics, appCalls } = parts;
  return {
    advanceEnrollment({ organizationId, ...contact }) {
      return callVerb(deps, { organizationId }, (ctx) => advanceEnrollment(ctx, contact));
    },

    deliverSend: createDeliverSend(parts),

    async callApp(args) {
      const result = await callVerb(deps, args, (ctx) => callApp(ctx, args.stepRunId, appCalls));
      assertNotBusy(metrics, result);
      if (result.outcome === 'retry')
        throw ApplicationFailure.create({
          message: result.detail,
          type: 'app_action_retry',
          nextRetryDelay: result.retryInMs,
        });
      return { outcome: result.outcome };
    },
  };
}
