import type { Deps } from '../domain/platform/kernel/context.ts';
import { refundTurn } from '../domain/billing/payments/refund.ts';
import type { OrderRefundActivities } from '../workflows/order-refund/contract.ts';
import { callVerb } from './call-verb.ts';

/** Activities of refunds. An answer of the payment provider, or none, is a result and not an error. */
export function createOrderRefundActivities(deps: Deps): OrderRefundActivities {
  return {
    refundTurn: (args) => callVerb(deps, args, (ctx) => refundTurn(ctx, args)),
  };
}
