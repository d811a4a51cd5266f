import { newId } from '../../lib/ids.ts';
import { BLOCKED } from '../../workflows/contract.ts';
import { domainRenewalWorkflow, type RenewalReport } from '../../workflows/domain-renewal/contract.ts';
import { mailboxOrderWorkflow, type OrderDecision } from '../../workflows/mailbox-order/contract.ts';
import { orderRefundWorkflow, type RefundReport } from '../../workflows/order-refund/contract.ts';
import { scripted, type Answer, type Scripted, type Sent } from './script.ts';

const organizationId = newId();
const TIMER = 'EVENT_TYPE_TIMER_STARTED';
const GAVE_UP = 'EVENT_TYPE_ACTIVITY_TASK_FAILED';
const LONG_MS = 4_500;
const inMs = (ms: number) => Date.now() + ms;
const hour = () => inMs(3_600_000);
const gaveUp: Answer['fails'] = { message: 'it kept failing', type: BLOCKED, nonRetryable: true };
const tried: Sent = { signal: 'retry', says: [{ cause: 'operator' }] };

const refunding = (gives: RefundReport, more: Partial<Answer> = {}): Answer => ({
  activity: 'refundTurn',
  gives,
  ...more,
});
const underWay = (ms: number): RefundReport => ({ kind: 'wait', wakeAt: inMs(ms), why: 'the refund is under way' });
const refunded: RefundReport = { kind: 'done', why: 'refunded' };
const refunds: Scripted[] = [
  refund(
    'confirmed-while-waiting',
    [refunding(underWay(3_600_000)), refunding(refunded)],
    [{ signal: 'changed', says: [{ cause: 'provider' }], events: TIMER, times: 1 }],
  ),
  refund('asked-again', [refunding(underWay(3_000)), refunding(underWay(6_000)), refunding(refunded)]),
  refund('failed-and-retried', [
    refunding({ kind: 'done', why: 'needs_person' }, { meanwhile: tried }),
    refunding(refunded),
  ]),
  refund(
    'blocked',
    [{ activity: 'refundTurn', fails: gaveUp }, refunding(refunded)],
    [{ ...tried, events: GAVE_UP, times: 1 }],
  ),
];

const ordering = (gives: OrderDecision, more = {}): Answer => ({ activity: 'advanceMailboxOrder', gives, ...more });
const orderState = (state: string) => ({ state, where: state });
const toPay = (until: number): OrderDecision => ({ kind: 'wait', until, ...orderState('awaiting_payment') });
const ordered = (state: string): OrderDecision => ({ kind: 'done', ...orderState(state) });
const orderStep = (step: string): OrderDecision => ({ kind: 'step', step, ...orderState('provisioning') });
const orderUndo = (step: string): OrderDecision => ({ kind: 'undo', step, ...orderState('cancelled') });
const performed: Answer = { activity: 'performOrderStep', gives: { outcome: 'done' } };
const undone: Answer = { activity: 'undoOrderStep', gives: { outcome: 'done' } };
const orderEnded: Sent = { signal: 'ended', says: [{ cause: 'cancelled' }] };
const mailboxOrders: Scripted[] = [
  mailboxOrder(
    'paid-and-ready',
    [
      ordering({ kind: 'checkout', ...orderState('awaiting_payment') }),
      { activity: 'openCheckout' },
      ordering(toPay(hour())),
      ordering(orderStep('domain:0')),
      performed,
      ordering(orderStep('mailbox:0')),
      performed,
      ordering(ordered('ready')),
    ],
    [{ signal: 'paid', says: [{ paymentId: newId() }], events: TIMER, times: 1 }],
  ),
  mailboxOrder('not-paid', [
    ordering(toPay(inMs(8_000))),
    ordering({ kind: 'close', ...orderState('awaiting_payment') }),
    { activity: 'closeCheckout' },
    ordering(ordered('failed')),
  ]),
  mailboxOrder('cancelled-during-a-step', [
    ordering(orderStep('mailbox:0')),
    { ...performed, meanwhile: orderEnded },
    ordering(orderUndo('mailbox:0')),
    undone,
    ordering(orderUndo('domain:0')),
    undone,
    ordering(ordered('cancelled')),
  ]),
  mailboxOrder('cancelled-at-the-end', [
    ordering(ordered('ready'), { meanwhile: orderEnded, takesMs: LONG_MS }),
    ordering(orderUndo('mailbox:0')),
    undone,
    ordering(ordered('cancelled')),
  ]),
  mailboxOrder(
    'blocked',
    [
      ordering(orderStep('mailbox:0')),
      { activity: 'performOrderStep', fails: gaveUp },
      { activity: 'advanceMailboxOrder', patient: true, fails: gaveUp },
      ordering(ordered('ready')),
    ],
    [1, 2].map((times) => ({ ...tried, events: GAVE_UP, times })),
  ),
];

const renewing = (gives: RenewalReport, more: Partial<Answer> = {}): Answer => ({
  activity: 'renewalTurn',
  gives,
  ...more,
});
const cycle = (state: 'scheduled' | 'charging' | 'renewing' | 'requires_action', ms: number): RenewalReport => ({
  kind: 'wait',
  state,
  until: inMs(ms),
  where: 'waits',
});
const released: RenewalReport = { kind: 'done', outcome: 'released' };
const paidFor: Sent = { signal: 'changed', says: [{ cause: 'payment' }] };
const renewals: Scripted[] = [
  renewal(
    'paid-while-waiting',
    [renewing(cycle('requires_action', 3_600_000)), renewing(cycle('renewing', 12_000)), renewing(released)],
    [{ ...paidFor, events: TIMER, times: 1 }],
  ),
  renewal('next-cycle', [renewing({ kind: 'renewed' }), renewing(cycle('scheduled', 10_000)), renewing(released)]),
  renewal('signal-at-the-end', [renewing(released, { meanwhile: paidFor }), renewing(released)]),
  renewal(
    'blocked',
    [{ activity: 'renewalTurn', fails: gaveUp }, renewing(released)],
    [{ ...tried, events: GAVE_UP, times: 1 }],
  ),
];

/**
 * Scripted workflows of orders, of their refunds and of domain renewals. Times are relative to the loading of this
 * file.
 */
export const ORDERS: readonly Scripted[] = [...refunds, ...mailboxOrders, ...renewals];

function mailboxOrder(name: string, answers: Answer[], later: Scripted['later'] = []): Scripted {
  return scripted(mailboxOrderWorkflow, { organizationId, orderId: newId() }, 'mailbox-order', name, answers, later);
}

function refund(name: string, answers: Answer[], later: Scripted['later'] = []): Scripted {
  return scripted(orderRefundWorkflow, { organizationId, paymentId: newId() }, 'order-refund', name, answers, later);
}

function renewal(name: string, answers: Answer[], later: Scripted['later'] = []): Scripted {
  return scripted(domainRenewalWorkflow, { organizationId, domainId: newId() }, 'domain-renewal', name, answers, later);
}
