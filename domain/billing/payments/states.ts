import type { Row } from '../../../db/rows.ts';

/** Money that a workspace is to pay once, or from now on monthly, for one order or one renewal. */
export type PaymentRow = Row<'payments'>;
/** `open`: a person can pay. `refund_due`: the money is to go back. `needs_person`: only an operator can settle it. */
export type PaymentState = PaymentRow['state'];
