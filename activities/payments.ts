import type { Ctx, Deps } from '../domain/kernel/context.ts';
import { renewalTurn } from '../domain/domain-renewals/turn.ts';
import { refundTurn } from '../domain/payments/refund.ts';
import type { DomainRenewalActivities } from '../workflows/domain-renewal/contract.ts';
import type { OrderRefundActivities } from '../workflows/order-refund/contract.ts';
import { orBlock } from './blocking.ts';
import { contextOf } from './context.ts';
import { withPulse } from './pulse.ts';

/** Activities of refunds and renewals. An answer of a provider, or none, is a result and not an error. */
export function createPaymentActivities(deps: Deps): OrderRefundActivities & DomainRenewalActivities {
  const turn = <Args extends { organizationId: string }, Report>(
    args: Args,
    verb: (ctx: Ctx) => Promise<Report>,
  ): Promise<Report> =>
    orBlock(deps, args.organizationId, () => withPulse(() => verb(contextOf(deps, args.organizationId))));
  return {
    refundTurn: (args) => turn(args, (ctx) => refundTurn(ctx, args)),
    renewalTurn: (args) => turn(args, (ctx) => renewalTurn(ctx, args.domainId)),
  };
}
