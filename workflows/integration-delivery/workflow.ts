import { defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { listenForHints } from '../hints.ts';
import { resourceQueue } from '../queues.ts';
import { iterateUntilDone } from '../iterations.ts';
import {
  integrationDeliveryWorkflow,
  type IntegrationDeliveryActivities,
  type IntegrationDeliveryArgs,
  type IntegrationDeliverySignals,
} from './contract.ts';

const more = defineSignal<[IntegrationDeliverySignals['more']]>('more');
const retry = defineSignal<[IntegrationDeliverySignals['retry']]>('retry');

/**
 * Sends the deliveries of one connection to its provider, until none remains. Deliveries and their outcomes are in
 * PostgreSQL.
 */
export async function integrationDelivery(args: IntegrationDeliveryArgs): Promise<string> {
  const { deliverToProvider } = proxyActivities<IntegrationDeliveryActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'integrations'),
    summary: 'deliver what is due',
    startToCloseTimeout: '5m',
    heartbeatTimeout: '15s',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
  });
  return iterateUntilDone(integrationDeliveryWorkflow, args, listenForHints(more, retry), deliverToProvider);
}
