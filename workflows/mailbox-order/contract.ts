import { defineWorkflow, type ArgsOf } from '../contract.ts';

/** Signals of an order. They are hints: the state is in PostgreSQL, so a lost or repeated one only delays. */
export type MailboxOrderSignals = {
  /** It was paid. */
  paid: { paymentId: string };
  /** It was cancelled or has failed: what it has made is to be undone. */
  ended: { cause: 'cancelled' | 'failed' };
  /** A run that kept failing is to continue, or what could not be undone is to be tried again. */
  retry: { cause: 'operator' | 'sweep' };
};

/** An order of managed mailboxes: the payment, every step at the provider, and their undoing. */
export const mailboxOrderWorkflow = defineWorkflow<MailboxOrderSignals>()({
  type: 'mailboxOrder',
  kind: 'mailbox-order',
  parts: ['orderId'],
  summary: ({ orderId }) => `Order of mailboxes ${orderId}`,
  cancel:
    'A step that is being undone is finished; maintenance opens another run. Cancel the order in Heron to have it undone.',
});

/** Arguments of an order. */
export type MailboxOrderArgs = ArgsOf<typeof mailboxOrderWorkflow>;

/** Arguments of what is done for one step of an order. */
export type OrderStepArgs = MailboxOrderArgs & { step: string };

/** What PostgreSQL has decided comes next. Times are epoch milliseconds; `where` describes it for people; `state` is that of the order. */
export type OrderDecision = { state: string; where: string } & (
  | { kind: 'checkout' }
  /** Until it is paid, or its time is over. */
  | { kind: 'wait'; until: number }
  /** Nobody is to pay any more. */
  | { kind: 'close' }
  | { kind: 'step'; step: string }
  | { kind: 'undo'; step: string }
  | { kind: 'done' }
);

/** Activities of this family, as the workflow sees them. */
export interface MailboxOrderActivities {
  /** Moves the order as far as it can go now and returns what comes next. Local: it only queries PostgreSQL. */
  advanceMailboxOrder(args: MailboxOrderArgs): Promise<OrderDecision>;
  /** Makes the page on which the order is paid. */
  openCheckout(args: MailboxOrderArgs): Promise<void>;
  /** Closes that page, and ends an order that was not paid in time. */
  closeCheckout(args: MailboxOrderArgs): Promise<void>;
  /** Does one step at the provider, unless the order has ended. */
  performOrderStep(args: OrderStepArgs): Promise<{ outcome: string }>;
  /** Undoes one step at the provider; a step that cannot be undone needs a person. */
  undoOrderStep(args: OrderStepArgs): Promise<{ outcome: string }>;
}
