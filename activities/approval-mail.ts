import { mailApprovers } from '../domain/approvals/mail-approvers.ts';
import { systemCtx, type Deps } from '../domain/kernel/context.ts';
import { approvalMailWorkflow, type ApprovalMailActivities } from '../workflows/approval-mail/contract.ts';
import { orBlock } from './blocking.ts';
import { withPulse } from './pulse.ts';

/** Activities of the mail about approvals. */
export function createApprovalMailActivities(deps: Deps): ApprovalMailActivities {
  return {
    mailApprovers(args) {
      const { organizationId, approvalId } = args;
      const ctx = systemCtx(deps, organizationId, approvalMailWorkflow.id(args));
      return orBlock(deps, organizationId, () => withPulse(() => mailApprovers(ctx, approvalId)));
    },
  };
}
