import { mailApprovers } from '../domain/approvals/mail-approvers.ts';
import { approvalMailWorkflow, type ApprovalMailActivities } from '../workflows/approval-mail/contract.ts';
import { callVerb } from './call-verb.ts';
import { family } from './family.ts';

/** Workflow and activities for the emails that notify people of approvals. */
export const approvalMail = family<ApprovalMailActivities>({
  contract: approvalMailWorkflow,
  queue: 'mail',
  activities: ({ deps }) => ({
    mailApprovers: (args) => callVerb(deps, args, (ctx) => mailApprovers(ctx, args.approvalId)),
  }),
  mustBeOpen: { table: 'approval_notices', key: 'approval_id', open: `state = 'due'` },
  blocked: { taskType: 'approval_mail' },
});
