import { Context } from '@temporalio/activity';
import { deliverTurn } from '../domain/connect/integrations/deliver.ts';
import { retryDelivery } from '../domain/connect/integrations/retry.ts';
import { readAgain } from '../domain/connect/integrations/inbound.ts';
import {
  INTEGRATION_BACKLOG,
  INTEGRATION_DELIVERY,
  INTEGRATION_RUN,
  INTEGRATION_WEBHOOK,
} from '../domain/platform/dead-letters.ts';
import {
  integrationDeliveryWorkflow,
  type IntegrationDeliveryActivities,
} from '../workflows/integration-delivery/contract.ts';
import { orBlock } from './blocking.ts';
import { contextOf } from './context.ts';
import { family } from './family.ts';
import { withPulse } from './pulse.ts';

/** Deliveries to providers. Each is settled by itself, so an attempt whose worker died is repeated for what it had under way. */
export const integrationDelivery = family<IntegrationDeliveryActivities>({
  contract: integrationDeliveryWorkflow,
  queue: 'integrations',
  activities: ({ deps, providers: limits }) => ({
    deliverToProvider: ({ organizationId, connectionId }) =>
      orBlock(deps, organizationId, (reached) => {
        const signal = Context.current().cancellationSignal;
        return withPulse(() => deliverTurn(contextOf(deps, organizationId), connectionId, { limits, signal, reached }));
      }),
  }),
  // Deliveries of an account that has to be connected again are woken when it is.
  mustBeOpen: {
    table: 'integration_connections',
    open: `integration_connections.status in ('connected', 'degraded')
       and exists (select from integration_lanes l where l.connection_id = integration_connections.id)`,
  },
  blocked: { taskType: INTEGRATION_RUN, restricted: 'readOnly', open: 'true', isStamped: true },
  deadLetters: [
    // A delivery that a provider refused: only a person has it tried again.
    { taskType: INTEGRATION_DELIVERY, restricted: 'readOnly', retry: retryDelivery },
    // A booking that could not be read, as when the provider changed its form and Heron has learned it since.
    { taskType: INTEGRATION_WEBHOOK, restricted: 'readOnly', retry: readAgain },
    // A dropped delivery: there is nothing to repeat, and a person who has read it settles it.
    { taskType: INTEGRATION_BACKLOG, restricted: 'readOnly', retry: async () => {} },
  ],
});
