import type { Row } from '../../../db/rows.ts';

/** A payment of a workspace for one order or one renewal, due once or every month. */
export type PaymentRow = Row<'payments'>;
/**
 * `open`: a person can pay. `refund_due`: the money must be refunded. `needs_person`: only an operator can resolve it.
 */
export type PaymentState = PaymentRow['state'];
