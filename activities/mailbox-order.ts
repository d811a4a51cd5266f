import type { Ctx } from '../domain/platform/kernel/context.ts';
import { advanceMailboxOrder } from '../domain/billing/mailbox-orders/advance.ts';
import { closeOrderCheckout, openOrderCheckout } from '../domain/billing/mailbox-orders/checkout.ts';
import { mailboxOrderApproval } from '../domain/billing/mailbox-orders/order.ts';
import { performOrderStep, type StepOutcome } from '../domain/billing/mailbox-orders/perform.ts';
import { retryUndo, undoOrderStep } from '../domain/billing/mailbox-orders/undo.ts';
import { UNDO_OF_ORDER } from '../domain/platform/dead-letters.ts';
import {
  mailboxOrderWorkflow,
  type MailboxOrderActivities,
  type OrderStepArgs,
} from '../workflows/mailbox-order/contract.ts';
import { callVerb } from './call-verb.ts';
import { family, type ActivityParts } from './family.ts';
import { retryLater } from './retry-later.ts';

/**
 * Delay (ms) before the payment provider is queried again about a payment that it has received but not yet confirmed.
 */
const PAID_SOON_MS = 5_000;

/** Workflow and activities for orders of managed mailboxes. */
export const mailboxOrder = family<MailboxOrderActivities>({
  contract: mailboxOrderWorkflow,
  queue: {
    advanceMailboxOrder: 'workflows',
    openCheckout: 'apps',
    closeCheckout: 'apps',
    performOrderStep: 'apps',
    undoOrderStep: 'apps',
  },
  activities,
  // A failed or cancelled order stays `under_way` until its completed steps are undone.
  mustBeOpen: { table: 'mailbox_orders', open: 'under_way' },
  blocked: { taskType: 'mailbox_order', restricted: 'hidden', isStamped: true },
  // A step that an order could not undo. Only a person can retry it.
  deadLetters: [{ taskType: UNDO_OF_ORDER, restricted: 'hidden', retry: retryUndo }],
  approval: mailboxOrderApproval,
});

/** Maps each activity to one function of the domain and decides when Temporal retries it. */
function activities({ deps }: ActivityParts): MailboxOrderActivities {
  const step =
    (verb: (ctx: Ctx, orderId: string, step: string) => Promise<StepOutcome>) => async (args: OrderStepArgs) => {
      const done = await callVerb(deps, args, (ctx) => verb(ctx, args.orderId, args.step));
      if (done.outcome === 'retry')
        throw retryLater('provider_unreachable', 'the provider has not answered', done.inMs);
      return { outcome: done.outcome };
    };
  return {
    advanceMailboxOrder: (args) => callVerb(deps, args, (ctx) => advanceMailboxOrder(ctx, args.orderId)),
    openCheckout: (args) => callVerb(deps, args, (ctx) => openOrderCheckout(ctx, args.orderId)),
    async closeCheckout(args) {
      if (!(await callVerb(deps, args, (ctx) => closeOrderCheckout(ctx, args.orderId))))
        throw retryLater('payment_under_way', 'a payment was made and is not known yet', PAID_SOON_MS);
    },
    performOrderStep: step(performOrderStep),
    undoOrderStep: step(undoOrderStep),
  };
}
