import { defineWorkflow, type ArgsOf } from '../contract.ts';

/**
 * Signals of an order. A signal only wakes the workflow. The state is in PostgreSQL, so a lost or repeated signal only causes a
 * delay.
 */
export type MailboxOrderSignals = {
  /** The order was paid. */
  paid: { paymentId: string };
  /** The order was cancelled or has failed, so its completed steps must be undone. */
  ended: { cause: 'cancelled' | 'failed' };
  /** Continues a workflow that failed repeatedly, or retries steps that could not be undone. */
  retry: { cause: 'operator' | 'sweep' };
};

/** Order of managed mailboxes: the payment, the steps at the provider, and their undo if the order fails. */
export const mailboxOrderWorkflow = defineWorkflow<MailboxOrderSignals>()({
  type: 'mailboxOrder',
  kind: 'mailbox-order',
  parts: ['orderId'],
  summary: ({ orderId }) => `Order of mailboxes ${orderId}`,
  cancel:
    'Steps that are being undone are finished; otherwise maintenance opens another run. Cancel the order in Heron to have it undone.',
});

/** Arguments of an order. */
export type MailboxOrderArgs = ArgsOf<typeof mailboxOrderWorkflow>;

/** Arguments of an activity for one step of an order. */
export type OrderStepArgs = MailboxOrderArgs & { step: string };

/**
 * Next step decided by PostgreSQL. Times are epoch milliseconds; `where` describes the step for people; `state` is the
 * order's state.
 */
export type OrderDecision = { state: string; where: string } & (
  | { kind: 'checkout' }
  /** Waits until the order is paid or its payment deadline has passed. */
  | { kind: 'wait'; until: number }
  /** Closes the checkout, because no payment is expected any more. */
  | { kind: 'close' }
  | { kind: 'step'; step: string }
  | { kind: 'undo'; step: string }
  | { kind: 'done' }
);

/** Activities that the workflow calls. */
export interface MailboxOrderActivities {
  /**
   * Advances the order as far as possible and returns the next step. A local activity, because it only queries
   * PostgreSQL.
   */
  advanceMailboxOrder(args: MailboxOrderArgs): Promise<OrderDecision>;
  /** Creates the payment page of the order. */
  openCheckout(args: MailboxOrderArgs): Promise<void>;
  /** Closes the payment page, and ends an order that was not paid in time. */
  closeCheckout(args: MailboxOrderArgs): Promise<void>;
  /** Performs one step at the provider, unless the order has ended. */
  performOrderStep(args: OrderStepArgs): Promise<{ outcome: string }>;
  /** Undoes one step at the provider. A step that cannot be undone needs a person. */
  undoOrderStep(args: OrderStepArgs): Promise<{ outcome: string }>;
}
