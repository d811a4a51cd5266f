import type { Ctx, Deps } from '../domain/platform/kernel/context.ts';
import { advanceMailboxOrder } from '../domain/billing/mailbox-orders/advance.ts';
import { closeOrderCheckout, openOrderCheckout } from '../domain/billing/mailbox-orders/checkout.ts';
import { performOrderStep, type StepOutcome } from '../domain/billing/mailbox-orders/perform.ts';
import { undoOrderStep } from '../domain/billing/mailbox-orders/undo.ts';
import type { MailboxOrderActivities, OrderStepArgs } from '../workflows/mailbox-order/contract.ts';
import { callVerb } from './call-verb.ts';
import { notYet } from './not-yet.ts';

/** How soon (ms) a payment provider is asked again that has taken a payment and not told yet. */
const PAID_SOON_MS = 5_000;

/** Activities of orders of managed mailboxes: each calls one verb and says when Temporal tries again. */
export function createMailboxOrderActivities(deps: Deps): MailboxOrderActivities {
  const step =
    (verb: (ctx: Ctx, orderId: string, step: string) => Promise<StepOutcome>) => async (args: OrderStepArgs) => {
      const done = await callVerb(deps, args, (ctx) => verb(ctx, args.orderId, args.step));
      if (done.outcome === 'retry') throw notYet('provider_unreachable', 'the provider has not answered', done.inMs);
      return { outcome: done.outcome };
    };
  return {
    advanceMailboxOrder: (args) => callVerb(deps, args, (ctx) => advanceMailboxOrder(ctx, args.orderId)),
    openCheckout: (args) => callVerb(deps, args, (ctx) => openOrderCheckout(ctx, args.orderId)),
    async closeCheckout(args) {
      if (!(await callVerb(deps, args, (ctx) => closeOrderCheckout(ctx, args.orderId))))
        throw notYet('payment_under_way', 'a payment was made and is not known yet', PAID_SOON_MS);
    },
    performOrderStep: step(performOrderStep),
    undoOrderStep: step(undoOrderStep),
  };
}
