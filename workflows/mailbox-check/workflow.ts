import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import { resourceQueue } from '../queues.ts';
import type { MailboxCheckActivities, MailboxCheckArgs, MailboxCheckResult } from './contract.ts';

/** Checks one mailbox. A person waits for the answer, so all timeouts together are short. */
export async function mailboxCheck(args: MailboxCheckArgs): Promise<MailboxCheckResult> {
  const { checkMailbox } = proxyActivities<MailboxCheckActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'interactive'),
    summary: 'sign in to SMTP and IMAP',
    startToCloseTimeout: '30s',
    scheduleToCloseTimeout: '40s',
    retry: { initialInterval: '200ms', maximumAttempts: 2 },
  });
  return checkMailbox(args);
}
