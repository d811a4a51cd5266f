import { defineWorkflow, type ArgsOf } from '../contract.ts';

/** Signals of a refund. A signal only wakes the workflow; the state is in PostgreSQL. */
export type OrderRefundSignals = {
  /** The payment provider reported the outcome of the refund. */
  changed: { cause: 'provider' };
  /** An operator or the sweep retries a workflow that failed repeatedly, or a refused refund. */
  retry: { cause: 'operator' | 'sweep' };
};

/** Refund of one payment, until the money is returned or a person is needed. */
export const orderRefundWorkflow = defineWorkflow<OrderRefundSignals>()({
  type: 'orderRefund',
  kind: 'order-refund',
  parts: ['paymentId'],
  summary: ({ paymentId }) => `Refund of payment ${paymentId}`,
  cancel: 'Ends this run; maintenance opens another one. A refund that was asked for is not taken back.',
});

/** Arguments of a refund. */
export type OrderRefundArgs = ArgsOf<typeof orderRefundWorkflow>;

/**
 * Result of one iteration. `wakeAt` (epoch ms) is the time of the next query to the provider, unless the provider
 * reports earlier.
 */
export type RefundReport = { kind: 'wait'; wakeAt: number; why: string } | { kind: 'done'; why: string };

/** Activities that the workflow calls. */
export interface OrderRefundActivities {
  /** Requests the refund or its status from the payment provider and stores the answer. */
  refundTurn(args: OrderRefundArgs): Promise<RefundReport>;
}
