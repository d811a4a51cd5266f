/**
 * State machines of the flows as the API documents them, written by hand and compared with the rows' paths. So a wrong
 * transition is found even if the product intends it.
 */
type Machine = Record<string, readonly string[]>;

const STEPS = ['domain', 'mailbox', 'dns', 'warmup'];

/** Allowed next states of each state. `new` precedes the first state; `gone` is a deleted row. */
export const MACHINES: Record<string, Machine> = {
  runs: {
    new: ['queued'],
    queued: ['preflighting', 'cancelled'],
    preflighting: ['awaiting_approval', 'launching', 'completed', 'failed', 'denied', 'cancelled'],
    awaiting_approval: ['launching', 'denied', 'cancelled', 'failed'],
    launching: ['active', 'failed', 'denied', 'awaiting_approval', 'cancelled'],
    active: ['paused', 'completed', 'cancelled'],
    paused: ['active', 'completed', 'cancelled'],
  },
  approvals: {
    new: ['pending'],
    pending: ['approved', 'denied', 'expired'],
    approved: ['executed', 'expired'],
  },
  direct_sends: {
    new: ['queued', 'awaiting_approval'],
    awaiting_approval: ['queued', 'denied', 'expired', 'cancelled'],
    queued: ['sent', 'uncertain', 'bounced', 'failed', 'cancelled'],
    // `sent`: the email's copy was found in the Sent folder. `bounced`: a delivery report arrived.
    uncertain: ['sent', 'bounced'],
  },
  test_runs: {
    new: ['running'],
    running: ['waiting_for_event', 'completed', 'failed', 'cancelled'],
    waiting_for_event: ['running', 'completed', 'failed', 'cancelled'],
  },
  sends: {
    new: ['reserved'],
    reserved: ['sending', 'gone'],
    sending: ['sent', 'uncertain', 'bounced', 'failed', 'reserved', 'gone'],
    // `gone`: a slot missed by more than five minutes is released, and the email gets another slot.
    gone: ['reserved'],
    uncertain: ['sent', 'bounced'],
  },
  warmup_mails: {
    new: ['reserved'],
    reserved: ['sending', 'failed', 'gone'],
    sending: ['sent', 'uncertain', 'failed', 'reserved'],
    uncertain: ['sent'],
  },
  mailbox_orders: {
    new: ['awaiting_payment'],
    awaiting_payment: ['paid', 'failed', 'cancelled'],
    paid: ['queued', 'failed', 'cancelled'],
    queued: ['provisioning', 'failed', 'cancelled'],
    provisioning: ['configuring', 'failed', 'cancelled'],
    configuring: ['ready', 'failed', 'cancelled'],
    ready: ['failed', 'cancelled'],
  },
  order_steps: Object.assign({}, ...STEPS.map(stepMachine), { new: STEPS.map((kind) => `${kind} pending`) }),
  payments: {
    new: ['open'],
    open: ['paid', 'expired', 'failed'],
    // An expired payment page may still be paid.
    expired: ['paid'],
    failed: ['paid'],
    paid: ['refund_due'],
    refund_due: ['refunded', 'needs_person'],
    needs_person: ['refunded', 'refund_due'],
  },
  domain_renewals: {
    new: ['scheduled'],
    scheduled: ['charging', 'requires_action', 'ended'],
    charging: ['renewing', 'requires_action', 'ended'],
    renewing: ['renewed', 'requires_action', 'ended'],
    // A person paid on the payment page, or replayed the renewal.
    requires_action: ['renewing', 'renewed', 'scheduled', 'charging', 'ended'],
  },
  // An ordered mailbox is deleted with its order.
  mailboxes: { new: ['off'], off: ['warming', 'gone'], warming: ['paused', 'off'], paused: ['warming', 'off'] },
};

/** Returns the state machine of an order's step: it is done, or undone if the order failed. */
function stepMachine(kind: string): Machine {
  const to = (...states: string[]) => states.map((state) => `${kind} ${state}`);
  return {
    [`${kind} pending`]: to('running'),
    [`${kind} running`]: to('done', 'failed', 'compensating'),
    [`${kind} done`]: to('compensating'),
    [`${kind} failed`]: to('compensating'),
    [`${kind} compensating`]: to('compensated'),
  };
}

/** Final states of a flow's rows, after all work has settled. */
export const ENDS: Record<string, readonly string[]> = {
  runs: ['completed', 'failed', 'denied', 'cancelled'],
  approvals: ['executed', 'denied', 'expired'],
  direct_sends: ['sent', 'uncertain', 'bounced', 'failed', 'cancelled', 'denied', 'expired'],
  test_runs: ['completed', 'failed', 'cancelled'],
  warmup_mails: ['sent', 'uncertain', 'failed', 'gone'],
  mailbox_orders: ['ready', 'failed', 'cancelled'],
  payments: ['paid', 'expired', 'failed', 'refunded'],
  domain_renewals: ['scheduled', 'renewed', 'ended'],
  mailboxes: ['off', 'gone'],
};

/** Returns the reason why a row's path violates its machine; undefined if it is allowed. */
export function illegalMove(machine: Machine, path: readonly string[]): string | undefined {
  let from = 'new';
  for (const to of path) {
    if (!machine[from]?.includes(to)) return `${from} to ${to}`;
    from = to;
  }
  return undefined;
}
