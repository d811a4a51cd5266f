import { ApplicationFailure } from '@temporalio/common';
import { performCheck } from '../domain/mailboxes/perform-check.ts';
import { AppError } from '../lib/errors.ts';
import { mailboxCheckWorkflow, type MailboxCheckActivities } from '../workflows/mailbox-check/contract.ts';
import { contextOf } from './context.ts';
import { family } from './family.ts';

/** Workflow and activities for mailbox credential checks. A check is not retried after its row was deleted. */
export const mailboxCheck = family<MailboxCheckActivities>({
  contract: mailboxCheckWorkflow,
  queue: 'interactive',
  activities: ({ deps, smtp }) => ({
    async checkMailbox({ organizationId, checkId }) {
      try {
        return await performCheck(contextOf(deps, organizationId), smtp, checkId);
      } catch (error) {
        if (error instanceof AppError && error.code === 'not_found')
          throw ApplicationFailure.nonRetryable('the check is gone', 'check_gone');
        throw error;
      }
    },
  }),
  mustBeOpen: { unneeded: 'a person waits for the answer, and asks again when none comes' },
});
