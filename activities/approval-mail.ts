import { Context } from '@temporalio/activity';
import { mailApprovers } from '../domain/approvals/mail-approvers.ts';
import { systemCtx, type Deps } from '../domain/kernel/context.ts';
import { approvalMailWorkflow, type ApprovalMailActivities } from '../workflows/approval-mail/contract.ts';
import { orBlock } from './blocking.ts';
import { HEARTBEAT_MS } from './engine.ts';

/** Activities of the mail about approvals. */
export function createApprovalMailActivities(deps: Deps): ApprovalMailActivities {
  return {
    mailApprovers(args) {
      const { organizationId, approvalId } = args;
      const context = Context.current();
      // A mail server may take long; the heartbeat distinguishes a slow one from a dead worker.
      const pulse = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
      return orBlock(deps, organizationId, () =>
        mailApprovers(systemCtx(deps, organizationId, approvalMailWorkflow.id(args)), approvalId).finally(() =>
          clearInterval(pulse),
        ),
      );
    },
  };
}
