import { defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { listenForHints } from '../hints.ts';
import { resourceQueue } from '../queues.ts';
import { iterateUntilDone } from '../iterations.ts';
import {
  approvalMailWorkflow,
  type ApprovalMailActivities,
  type ApprovalMailArgs,
  type ApprovalMailSignals,
} from './contract.ts';

const retry = defineSignal<[ApprovalMailSignals['retry']]>('retry');

/**
 * Sends one email to each person who may decide on an approval. Retries while the mail server is unreachable, until the
 * approval has ended.
 */
export async function approvalMail(args: ApprovalMailArgs): Promise<string> {
  const { mailApprovers } = proxyActivities<ApprovalMailActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'mail'),
    summary: 'mail those who may decide',
    startToCloseTimeout: '10m',
    heartbeatTimeout: '1m',
    retry: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '1m' },
  });
  return iterateUntilDone(approvalMailWorkflow, args, listenForHints(retry), mailApprovers);
}
