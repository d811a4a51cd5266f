import { ApplicationFailure } from '@temporalio/common';
import type { Deps } from '../domain/platform/kernel/context.ts';
import { performCheck } from '../domain/mailboxes/perform-check.ts';
import { AppError } from '../lib/errors.ts';
import type { SmtpSender } from '../lib/smtp/index.ts';
import type { MailboxCheckActivities } from '../workflows/mailbox-check/contract.ts';
import { contextOf } from './context.ts';

/** Activities of mailbox checks. When the request is gone, the check is not retried. */
export function createMailboxCheckActivities(deps: Deps, { smtp }: { smtp: SmtpSender }): MailboxCheckActivities {
  return {
    async checkMailbox({ organizationId, checkId }) {
      try {
        return await performCheck(contextOf(deps, organizationId), smtp, checkId);
      } catch (error) {
        if (error instanceof AppError && error.code === 'not_found')
          throw ApplicationFailure.nonRetryable('the check is gone', 'check_gone');
        throw error;
      }
    },
  };
}
