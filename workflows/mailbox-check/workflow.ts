import { proxyActivities } from '@temporalio/workflow';
import type { MailboxCheckActivities, MailboxCheckArgs, MailboxCheckResult } from './contract.ts';

const { checkMailbox } = proxyActivities<MailboxCheckActivities>({
  startToCloseTimeout: '30s',
  scheduleToCloseTimeout: '40s',
  summary: 'sign in to SMTP and IMAP',
  retry: { initialInterval: '200ms', maximumAttempts: 2 },
});

/** Somebody is waiting for the answer, so it ends within the caller's patience, whatever the servers do. */
export async function mailboxCheck(args: MailboxCheckArgs): Promise<MailboxCheckResult> {
  return checkMailbox(args);
}
