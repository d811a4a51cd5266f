import { blockVerification, retryVerification } from '../domain/connect/webhooks/blocked-verification.ts';
import { challengeManagedEndpoint } from '../domain/connect/webhooks/verify.ts';
import { webhookVerifyWorkflow, type WebhookVerifyActivities } from '../workflows/webhook-verify/contract.ts';
import { callVerb } from './call-verb.ts';
import { family } from './family.ts';

/**
 * Workflow and activities for the verification of applications' endpoints. A receiver's wrong answer is a result of an
 * activity, not an error.
 */
export const webhookVerify = family<WebhookVerifyActivities>({
  contract: webhookVerifyWorkflow,
  queue: 'apps',
  activities: ({ deps }) => ({
    challengeEndpoint: (args, attempt) =>
      callVerb(deps, args, (ctx) => challengeManagedEndpoint(ctx, args.endpointId, attempt)),
  }),
  mustBeOpen: { table: 'webhook_endpoints', open: 'challenging and verified_at is null' },
  blocked: {
    taskType: 'webhook_verification',
    restricted: 'hidden',
    block: blockVerification,
    retry: retryVerification,
  },
});
