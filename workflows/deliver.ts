import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { DeliverArgs, EnrollmentActivities } from './enrollment/contract.ts';
import { resourceQueue } from './queues.ts';

/**
 * Sends one email. Must be called in a scope that is not cancelled with the workflow; otherwise the email would never
 * be settled.
 */
export function deliver(args: DeliverArgs, summary: string): ReturnType<EnrollmentActivities['deliverSend']> {
  const { deliverSend } = proxyActivities<Pick<EnrollmentActivities, 'deliverSend'>>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'mail'),
    summary,
    startToCloseTimeout: '5m',
    // The timeout is short, so that a task that never reached its worker is retried soon. If the worker is only slow,
    // the retry finds that the email is already claimed.
    heartbeatTimeout: '10s',
    retry: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '1m' },
  });
  return deliverSend(args);
}
