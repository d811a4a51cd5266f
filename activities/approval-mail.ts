import { mailApprovers } from '../domain/approvals/mail-approvers.ts';
import type { Deps } from '../domain/platform/kernel/context.ts';
import type { ApprovalMailActivities } from '../workflows/approval-mail/contract.ts';
import { callVerb } from './call-verb.ts';

/** Activities of the mail about approvals. */
export function createApprovalMailActivities(deps: Deps): ApprovalMailActivities {
  return {
    mailApprovers: (args) => callVerb(deps, args, (ctx) => mailApprovers(ctx, args.approvalId)),
  };
}
