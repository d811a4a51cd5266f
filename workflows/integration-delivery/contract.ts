import { defineWorkflow, type ArgsOf } from '../contract.ts';
import type { Turn } from '../turns.ts';

/** Signals of the deliveries of a connection. They are hints: the state is in PostgreSQL. */
export type IntegrationDeliverySignals = {
  /** Something was added, the account was connected again, or the sweep found deliveries without a run. */
  more: { cause: 'event' | 'action' | 'reconnect' | 'replay' | 'sweep' };
  /** An operator or the sweep retries a run that kept failing. */
  retry: { cause: 'operator' | 'sweep' };
};

/** What waits to be done at the provider of one connection, until nothing is left. */
export const integrationDeliveryWorkflow = defineWorkflow<IntegrationDeliverySignals>()({
  type: 'integrationDelivery',
  kind: 'integration-delivery',
  parts: ['connectionId'],
  summary: ({ connectionId }) => `Deliveries of connection ${connectionId}`,
  cancel: 'Ends this run; maintenance opens another one. Disconnect the account to stop its deliveries.',
});

/** Arguments of such a run. */
export type IntegrationDeliveryArgs = ArgsOf<typeof integrationDeliveryWorkflow>;

/** What a turn leaves. */
export type DeliveryReport = Turn;

/** Activities of this family, as the workflow sees them. */
export interface IntegrationDeliveryActivities {
  /** Makes the deliveries that are due, as fast as the provider allows; long, heartbeating. Says when the next one is due. */
  deliverToProvider(args: IntegrationDeliveryArgs): Promise<DeliveryReport>;
}
