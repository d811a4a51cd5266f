import { mailApprovers } from '../domain/approvals/mail-approvers.ts';
import type { Deps } from '../domain/kernel/context.ts';
import type { ApprovalMailActivities } from '../workflows/approval-mail/contract.ts';
import { orBlock } from './blocking.ts';
import { contextOf } from './context.ts';
import { withPulse } from './pulse.ts';

/** Activities of the mail about approvals. */
export function createApprovalMailActivities(deps: Deps): ApprovalMailActivities {
  return {
    mailApprovers: ({ organizationId, approvalId }) =>
      orBlock(deps, organizationId, () => withPulse(() => mailApprovers(contextOf(deps, organizationId), approvalId))),
  };
}
