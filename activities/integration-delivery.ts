import { Context } from '@temporalio/activity';
import { makeDueDeliveries } from '../domain/connect/integrations/deliver.ts';
import { retryDelivery } from '../domain/connect/integrations/retry.ts';
import { parseStoredWebhook } from '../domain/connect/integrations/inbound.ts';
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
import { runOrBlock } from './blocking.ts';
import { contextOf } from './context.ts';
import { family } from './family.ts';
import { withHeartbeat } from './heartbeat.ts';

/**
 * Workflow and activities for deliveries to providers. Each delivery is settled separately, so if a worker dies, only
 * unfinished deliveries are repeated.
 */
export const integrationDelivery = family<IntegrationDeliveryActivities>({
  contract: integrationDeliveryWorkflow,
  queue: 'integrations',
  activities: ({ deps, providers: limits }) => ({
    deliverToProvider: ({ organizationId, connectionId }) =>
      runOrBlock(deps, organizationId, (reached) => {
        const signal = Context.current().cancellationSignal;
        return withHeartbeat(() =>
          makeDueDeliveries(contextOf(deps, organizationId), connectionId, { limits, signal, reached }),
        );
      }),
  }),
  // Deliveries of an account that must be reconnected need no open workflow. They resume when the account is connected
  // again.
  mustBeOpen: {
    table: 'integration_connections',
    open: `integration_connections.status in ('connected', 'degraded')
       and exists (select from integration_lanes l where l.connection_id = integration_connections.id)`,
  },
  blocked: { taskType: INTEGRATION_RUN, restricted: 'readOnly', open: 'true', isStamped: true },
  deadLetters: [
    // A delivery that a provider refused. Only a person can retry it.
    { taskType: INTEGRATION_DELIVERY, restricted: 'readOnly', retry: retryDelivery },
    // A booking that could not be parsed. A retry helps after a release that supports the provider's new format.
    { taskType: INTEGRATION_WEBHOOK, restricted: 'readOnly', retry: parseStoredWebhook },
    // A dropped delivery, which cannot be repeated. A person marks it as resolved.
    { taskType: INTEGRATION_BACKLOG, restricted: 'readOnly', retry: async () => {} },
  ],
});
