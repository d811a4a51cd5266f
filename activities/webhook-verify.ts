import type { Deps } from '../domain/platform/kernel/context.ts';
import { challengeManagedEndpoint } from '../domain/connect/webhooks/verify.ts';
import type { WebhookVerifyActivities } from '../workflows/webhook-verify/contract.ts';
import { callVerb } from './call-verb.ts';

/** Activities that verify endpoints of applications. A wrong answer of a receiver is a result, not an error; what keeps failing blocks the run. */
export function createWebhookVerifyActivities(deps: Deps): WebhookVerifyActivities {
  return {
    challengeEndpoint: (args, attempt) =>
      callVerb(deps, args, (ctx) => challengeManagedEndpoint(ctx, args.endpointId, attempt)),
  };
}
