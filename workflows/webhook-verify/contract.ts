import type { WorkflowContract } from '../contract.ts';

/** Arguments of the verification of an application's endpoint in one workspace: ids only. */
export interface WebhookVerifyArgs {
  organizationId: string;
  endpointId: string;
}

/** Challenges an endpoint until it has echoed, or for as long as deliveries would be retried. */
export const webhookVerifyWorkflow: WorkflowContract<WebhookVerifyArgs> = {
  type: 'webhookVerify',
  kind: 'webhook-verify',
  id: ({ endpointId }) => `webhook-verify/${endpointId}`,
  summary: ({ endpointId }) => `Verification of webhook endpoint ${endpointId}`,
  searchAttributes: ({ organizationId }) => ({ OrganizationId: organizationId }),
};

/** The endpoint was created or armed again: challenge it now, and count anew. */
export const ARMED_SIGNAL = 'armed';

/** What one challenge led to. `over`: verified, gone, or tried often enough. */
export type ChallengeStep =
  | { over: true; state: 'verified' | 'gone' | 'given_up' }
  | { over: false; retryInMs: number };

/** Activities of this family, as the workflow sees them. */
export interface WebhookVerifyActivities {
  /**
   * Sends one challenge and stores what came of it.
   * @param attempt number of this challenge since the endpoint was armed, from 1
   */
  challengeEndpoint(args: WebhookVerifyArgs, attempt: number): Promise<ChallengeStep>;
}
