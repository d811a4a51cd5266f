import { defineWorkflow, type ArgsOf } from '../contract.ts';

/** Signals of a refund. They are hints: the state is in PostgreSQL. */
export type OrderRefundSignals = {
  /** The payment provider said what became of the refund. */
  changed: { cause: 'provider' };
  /** An operator or the sweep retries a run that kept failing, or a refund that was refused. */
  retry: { cause: 'operator' | 'sweep' };
};

/** The refund of one payment, until the money is back or a person is needed. */
export const orderRefundWorkflow = defineWorkflow<OrderRefundSignals>()({
  type: 'orderRefund',
  kind: 'order-refund',
  parts: ['paymentId'],
  summary: ({ paymentId }) => `Refund of payment ${paymentId}`,
  cancel: 'Ends this run; maintenance opens another one. A refund that was asked for is not taken back.',
});

/** Arguments of a refund. */
export type OrderRefundArgs = ArgsOf<typeof orderRefundWorkflow>;

/** What a turn found. `wakeAt` is epoch milliseconds: when the provider is asked again, unless it says so before. */
export type RefundReport = { kind: 'wait'; wakeAt: number; why: string } | { kind: 'done'; why: string };

/** Activities of this family, as the workflow sees them. */
export interface OrderRefundActivities {
  /** Asks the payment provider for the refund, or what became of it, and stores the answer. */
  refundTurn(args: OrderRefundArgs): Promise<RefundReport>;
}
