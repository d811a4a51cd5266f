import { activityInfo } from '@temporalio/activity';
import { systemCtx, type Deps } from '../domain/kernel/context.ts';
import { refundTurn } from '../domain/payments/refund.ts';
import type { OrderRefundActivities } from '../workflows/order-refund/contract.ts';
import { orBlock } from './blocking.ts';
import { withPulse } from './pulse.ts';

/** Activities of refunds. An answer of the payment provider, or none, is a result and not an error. */
export function createPaymentActivities(deps: Deps): OrderRefundActivities {
  return {
    refundTurn: (args) =>
      orBlock(deps, args.organizationId, () => {
        const workflowId = activityInfo().workflowExecution?.workflowId ?? 'refund';
        return withPulse(() => refundTurn(systemCtx(deps, args.organizationId, workflowId), args));
      }),
  };
}
