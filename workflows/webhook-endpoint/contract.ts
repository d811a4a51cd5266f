import { defineInstallationWorkflow, type ArgsOf } from '../contract.ts';

/** Signals of an endpoint's own batch. */
export type WebhookEndpointSignals = {
  /** More was put into the batch, or the sweep found some that was forgotten. */
  more: { cause: 'diverted' | 'sweep' };
};

/** All that waits for one endpoint that is slow or failing, so that it takes no slot from other endpoints. */
export const webhookEndpointWorkflow = defineInstallationWorkflow<WebhookEndpointSignals>()({
  type: 'webhookEndpoint',
  kind: 'webhook-endpoint',
  parts: ['endpointId'],
  summary: ({ endpointId }) => `Webhooks of endpoint ${endpointId}, by itself`,
});

/** Which endpoint. */
export type WebhookEndpointArgs = ArgsOf<typeof webhookEndpointWorkflow>;
