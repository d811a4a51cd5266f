import { defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { listenForHints } from '../hints.ts';
import { resourceQueue } from '../queues.ts';
import { iterateUntilDone } from '../iterations.ts';
import {
  orderRefundWorkflow,
  type OrderRefundActivities,
  type OrderRefundArgs,
  type OrderRefundSignals,
} from './contract.ts';

const changed = defineSignal<[OrderRefundSignals['changed']]>('changed');
const retry = defineSignal<[OrderRefundSignals['retry']]>('retry');

/**
 * Refunds one payment: requests the refund from the provider, waits while it is pending, and ends when it is done or a
 * person is needed.
 */
export async function orderRefund(args: OrderRefundArgs): Promise<string> {
  const { refundTurn } = proxyActivities<OrderRefundActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'batch'),
    summary: 'ask the payment provider for the refund',
    startToCloseTimeout: '3m',
    heartbeatTimeout: '15s',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
  });
  return iterateUntilDone(orderRefundWorkflow, args, listenForHints(changed, retry), refundTurn);
}
