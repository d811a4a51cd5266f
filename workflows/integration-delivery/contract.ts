import { defineWorkflow, type ArgsOf } from '../contract.ts';
import type { Iteration } from '../iterations.ts';

/** Signals of a connection's deliveries. A signal only wakes the workflow; the state is in PostgreSQL. */
export type IntegrationDeliverySignals = {
  /** A delivery was added, the account was connected again, or the sweep found deliveries without an open workflow. */
  more: { cause: 'event' | 'action' | 'reconnect' | 'replay' | 'sweep' };
  /** An operator or the sweep retries a workflow that failed repeatedly. */
  retry: { cause: 'operator' | 'sweep' };
};

/** Deliveries to the provider of one connection, until none remains. */
export const integrationDeliveryWorkflow = defineWorkflow<IntegrationDeliverySignals>()({
  type: 'integrationDelivery',
  kind: 'integration-delivery',
  parts: ['connectionId'],
  summary: ({ connectionId }) => `Deliveries of connection ${connectionId}`,
  cancel: 'Ends this run; maintenance opens another one. Disconnect the account to stop its deliveries.',
});

/** Arguments of a connection's deliveries. */
export type IntegrationDeliveryArgs = ArgsOf<typeof integrationDeliveryWorkflow>;

/** Result of one iteration, with the time at which the next delivery is due. */
export type DeliveryReport = Iteration;

/** Activities that the workflow calls. */
export interface IntegrationDeliveryActivities {
  /**
   * Sends the due deliveries to the provider, within its rate limit. Returns the time at which the next one is due.
   * Takes long and sends heartbeats.
   */
  deliverToProvider(args: IntegrationDeliveryArgs): Promise<DeliveryReport>;
}
