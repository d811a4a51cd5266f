import { advanceRefund } from '../domain/billing/payments/refund.ts';
import { retryRefund } from '../domain/billing/payments/request-refund.ts';
import { REFUND } from '../domain/platform/dead-letters.ts';
import { orderRefundWorkflow, type OrderRefundActivities } from '../workflows/order-refund/contract.ts';
import { callVerb } from './call-verb.ts';
import { family } from './family.ts';

/**
 * Workflow and activities for payment refunds. A payment provider's refusal or missing answer is a result of an
 * activity, not an error.
 */
export const orderRefund = family<OrderRefundActivities>({
  contract: orderRefundWorkflow,
  queue: 'batch',
  activities: ({ deps }) => ({
    refundTurn: (args) => callVerb(deps, args, (ctx) => advanceRefund(ctx, args)),
  }),
  mustBeOpen: { table: 'payments', open: `state = 'refund_due'` },
  blocked: { taskType: REFUND, restricted: 'hidden', isStamped: true, retry: retryRefund },
});
