import { defineWorkflow, type ArgsOf } from '../contract.ts';

/** Signals of a verification. */
export type WebhookVerifySignals = {
  /**
   * The endpoint was created or its verification was reset. It is challenged at once, and attempts are counted from 1.
   */
  armed: { applicationId: string };
  /** An operator or the sweep retries a workflow that failed repeatedly. */
  retry: { cause: 'operator' | 'sweep' };
};

/** Sends challenges to an endpoint until it echoes one, for at most the retry period of deliveries. */
export const webhookVerifyWorkflow = defineWorkflow<WebhookVerifySignals>()({
  type: 'webhookVerify',
  kind: 'webhook-verify',
  parts: ['endpointId'],
  summary: ({ endpointId }) => `Verification of webhook endpoint ${endpointId}`,
  cancel: 'Ends this run; maintenance opens another one. Remove the endpoint to end its challenges.',
});

/** Arguments of the verification of an application's endpoint in one workspace. */
export type WebhookVerifyArgs = ArgsOf<typeof webhookVerifyWorkflow>;

/** Result of one challenge. `over` is true if the endpoint is verified or deleted, or after the last attempt. */
export type ChallengeStep =
  | { over: true; state: 'verified' | 'gone' | 'given_up' }
  | { over: false; retryInMs: number };

/** Activities that the workflow calls. */
export interface WebhookVerifyActivities {
  /**
   * Sends one challenge and stores its result.
   * @param attempt number of this challenge, from 1, since the endpoint was created or its verification was reset
   */
  challengeEndpoint(args: WebhookVerifyArgs, attempt: number): Promise<ChallengeStep>;
}
