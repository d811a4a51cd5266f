import { defineInstallationWorkflow, type ArgsOf } from '../contract.ts';

/** Signals of an endpoint's own batch. */
export type WebhookEndpointSignals = {
  /** Deliveries were added to the batch, or the sweep found deliveries without an open workflow. */
  more: { cause: 'diverted' | 'sweep' };
};

/**
 * Deliveries to one slow or failing endpoint. They have their own workflow, so that they use no slot of other
 * endpoints.
 */
export const webhookEndpointWorkflow = defineInstallationWorkflow<WebhookEndpointSignals>()({
  type: 'webhookEndpoint',
  kind: 'webhook-endpoint',
  parts: ['endpointId'],
  summary: ({ endpointId }) => `Webhooks of endpoint ${endpointId}, by itself`,
  cancel:
    'Ends this run; maintenance opens another one for what is left. Switch the endpoint off to stop its deliveries.',
});

/** Arguments of an endpoint's batch. */
export type WebhookEndpointArgs = ArgsOf<typeof webhookEndpointWorkflow>;
