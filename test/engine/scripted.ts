import { newId } from '../../lib/ids.ts';
import { approvalMailWorkflow } from '../../workflows/approval-mail/contract.ts';
import { automationWorkflow, type AutomationDecision } from '../../workflows/automation/contract.ts';
import { campaignWorkflow } from '../../workflows/campaign/contract.ts';
import { BLOCKED } from '../../workflows/contract.ts';
import { directSendWorkflow, type DirectDecision } from '../../workflows/direct-send/contract.ts';
import { enrollmentWorkflow, type Decision } from '../../workflows/enrollment/contract.ts';
import { integrationDeliveryWorkflow, type DeliveryReport } from '../../workflows/integration-delivery/contract.ts';
import { runWorkflow, type RunReport } from '../../workflows/run/contract.ts';
import { webhookBatchWorkflow } from '../../workflows/webhook-batch/contract.ts';
import { webhookDeliveryWorkflow } from '../../workflows/webhook-delivery/contract.ts';
import { testRunWorkflow, type TestDecision } from '../../workflows/test-run/contract.ts';
import { webhookEndpointWorkflow } from '../../workflows/webhook-endpoint/contract.ts';
import { CLOCKS } from './scripted-clocks.ts';
import { ORDERS } from './scripted-orders.ts';
import { TURNS } from './scripted-turns.ts';
import { scripted, type Answer, type Scripted, type Sent } from './script.ts';

const organizationId = newId();
const TIMER = 'EVENT_TYPE_TIMER_STARTED';
const GAVE_UP = 'EVENT_TYPE_ACTIVITY_TASK_FAILED';
const SHOWN = 'EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES';
/**
 * Longer (ms) than a workflow task of these workflows, so that the workflow receives a signal in between before the
 * answer.
 */
const LONG_MS = 4_500;
const inMs = (ms: number) => Date.now() + ms;

/** Failure of an activity while the database is unreachable. */
export const AWAY = { message: 'ECONNREFUSED', type: 'unexpected' };
const gaveUp: Answer['fails'] = { message: 'it kept failing', type: BLOCKED, nonRetryable: true };
const control = (cause: string): Sent => ({ signal: 'control', says: [{ cause, epoch: null }] });
const retried: Sent = { signal: 'retry', says: [{ cause: 'operator', stepRunId: null }] };
const product = (): Sent => ({ signal: 'event', says: [{ eventId: newId() }] });

const at = { where: 'Opening', step: 'Opening' };
/** Answer to a query for the next step. */
const next = (gives: Decision, more: Partial<Answer> = {}): Answer => ({
  activity: 'advanceEnrollment',
  gives,
  ...more,
});
const done: Decision = { kind: 'done', outcome: 'completed' };
const order: Decision = { kind: 'waitForEvent', eventName: 'order.paid', until: inMs(3_600_000), ...at };
const held: Decision = { kind: 'hold', until: null, state: 'held', ...at };
const slot = (ms: number): Decision => ({ kind: 'slot', sendId: newId(), mailboxId: newId(), at: inMs(ms), ...at });
const send: Decision = { kind: 'send', sendId: newId(), mailboxId: newId(), ...at };
const sent: Answer = { activity: 'deliverSend', gives: { outcome: 'sent' } };
/** Answer of an email's delivery, which contains the next step of its lead. */
const sentBefore = (then: Decision, more: Partial<Answer> = {}): Answer => ({
  activity: 'deliverSend',
  gives: { outcome: 'sent', next: then },
  ...more,
});

const enrollments: Scripted[] = [
  enrollment(
    'signal-before-a-slot',
    [next(slot(3_600_000)), next(held), next(send), sent, next(done)],
    [
      { ...control('held'), events: TIMER, times: 1 },
      { ...control('released'), events: SHOWN, times: 1 },
    ],
  ),
  enrollment('decided-with-each-email', [next(slot(0)), sentBefore(slot(9_000)), sentBefore(send), sentBefore(done)]),
  // The launcher has stored the first decision, so the workflow does not request it.
  {
    ...enrollment('launched-with-a-slot', [sentBefore(send), sentBefore(done)]),
    begins: {
      signal: 'control',
      says: [{ cause: 'launched', epoch: 1, sendId: newId(), mailboxId: newId(), at: inMs(2_000), ...at }],
    },
  },
  // The signal may be newer than the decision, so the workflow requests the next step again.
  enrollment('signal-while-sending', [
    next(send),
    sentBefore(order, { meanwhile: control('held') }),
    next(held, { meanwhile: control('released'), takesMs: LONG_MS }),
    next(send),
    sentBefore(done, { meanwhile: control('launched') }),
    next(done),
  ]),
  enrollment('signal-while-asking-for-a-deadline', [
    next(order, { meanwhile: product(), takesMs: LONG_MS }),
    next(slot(30_000)),
    sent,
    next(done),
  ]),
  enrollment('signal-while-asking-for-a-slot', [
    next(slot(0), { meanwhile: control('held'), takesMs: LONG_MS }),
    next(done),
  ]),
  // The lead is removed and added again while the workflow receives its last decision.
  enrollment('signal-after-the-end', [
    next(send),
    sent,
    next({ kind: 'done', outcome: 'removed' }, { meanwhile: control('launched'), takesMs: LONG_MS }),
    next(send),
    sent,
    next(done),
  ]),
  enrollment('database-away', [
    { activity: 'advanceEnrollment', patient: true, fails: AWAY },
    next(order, { patient: true, meanwhile: product() }),
    next(send),
    sent,
    next(done),
  ]),
  enrollment(
    'blocked',
    [
      next(send),
      { activity: 'deliverSend', fails: gaveUp },
      // If the failure had not blocked the workflow, the retry signal would still be pending here.
      next(order),
      next({ kind: 'call', stepRunId: newId(), ...at }),
      { activity: 'callApp', gives: { outcome: 'done' } },
      { activity: 'advanceEnrollment', patient: true, fails: gaveUp },
      next(done),
    ],
    [
      { ...retried, events: SHOWN, times: 1 },
      { ...product(), events: TIMER, times: 1 },
      { ...retried, events: SHOWN, times: 3 },
    ],
  ),
];

const ask = (gives: DirectDecision, more: Partial<Answer> = {}): Answer => ({
  activity: 'advanceDirectSend',
  gives,
  ...more,
});
const over: DirectDecision = { kind: 'done', outcome: 'sent' };
const leaves = (ms: number): DirectDecision => ({ kind: 'send', at: inMs(ms), where: 'leaves at its slot' });
const waits = (state: 'scheduled' | 'awaiting_approval' | 'held', ms = 3_600_000): DirectDecision => ({
  kind: 'wait',
  state,
  until: inMs(ms),
  where: 'waits',
});
const decided: Sent = { signal: 'decided', says: [{ approvalId: newId(), status: 'approved' }] };
const cancelled: Sent = { signal: 'changed', says: [{ cause: 'cancelled' }] };
const tried: Sent = { signal: 'retry', says: [{ cause: 'operator' }] };
const directSends: Scripted[] = [
  direct(
    'approved-and-sent',
    [ask(waits('awaiting_approval')), ask(leaves(20_000)), sent, ask(over)],
    [{ ...decided, events: TIMER, times: 1 }],
  ),
  direct('scheduled-and-held', [
    ask(waits('scheduled', 9_000)),
    ask(waits('held', 18_000)),
    ask(leaves(0)),
    sent,
    ask(over),
  ]),
  direct(
    'cancelled-before-its-slot',
    [ask(leaves(3_600_000)), ask({ kind: 'done', outcome: 'cancelled' })],
    [{ ...cancelled, events: TIMER, times: 1 }],
  ),
  direct('signal-while-asking', [
    ask(waits('awaiting_approval'), { meanwhile: decided, takesMs: LONG_MS }),
    ask(leaves(0), { meanwhile: cancelled, takesMs: LONG_MS }),
    ask({ kind: 'done', outcome: 'cancelled' }),
  ]),
  // The email is uncertain, and a person resends it while the workflow receives its last decision.
  direct('signal-after-the-end', [
    ask(leaves(0)),
    sent,
    ask({ kind: 'done', outcome: 'uncertain' }, { meanwhile: tried, takesMs: LONG_MS }),
    ask(leaves(0)),
    sent,
    ask(over),
  ]),
  direct('database-away', [
    { activity: 'advanceDirectSend', patient: true, fails: AWAY },
    ask(waits('scheduled'), { patient: true, meanwhile: cancelled }),
    ask({ kind: 'done', outcome: 'cancelled' }),
  ]),
  direct(
    'blocked',
    [
      ask(leaves(0)),
      { activity: 'deliverSend', fails: gaveUp },
      // If the failure had not blocked the workflow, the retry signal would still be pending here.
      ask(waits('held')),
      { activity: 'advanceDirectSend', patient: true, fails: gaveUp },
      ask(over),
    ],
    [
      { ...tried, events: SHOWN, times: 1 },
      { ...decided, events: TIMER, times: 1 },
      { ...tried, events: SHOWN, times: 3 },
    ],
  ),
];

const delivered: Answer = { activity: 'deliverWebhook', gives: { why: 'delivered' } };
const hurry: Sent = { signal: 'hurry', says: [{ cause: 'redelivery' }] };
const deliveries: Scripted[] = [
  delivery('settled-while-hurried', [{ ...delivered, meanwhile: hurry }, delivered]),
  delivery(
    'blocked',
    [{ activity: 'deliverWebhook', fails: gaveUp }, delivered],
    [{ signal: 'hurry', says: [{ cause: 'operator' }], events: GAVE_UP, times: 1 }],
  ),
];

const turn = (more: boolean, meanwhile?: Sent): Answer => ({
  activity: 'deliverBatch',
  gives: { delivered: 1, failed: 0, diverted: 0, more },
  ...(meanwhile ? { meanwhile } : {}),
});
const batches: Scripted[] = [
  scripted(webhookBatchWorkflow, { batchId: newId() }, 'webhook-batch', 'more-at-the-end-of-a-turn', [
    turn(true),
    turn(false),
  ]),
  scripted(webhookEndpointWorkflow, { endpointId: newId() }, 'webhook-endpoint', 'more-while-working', [
    turn(false, { signal: 'more', says: [{ cause: 'diverted' }] }),
    turn(true),
    turn(false),
  ]),
];

const launched = (wakeAt: number | null) => ({ kind: 'wait', wakeAt, launched: 1, why: 'the next lead' });
const finished = { kind: 'done', why: 'nothing is left' };
const launchers: Scripted[] = [
  launcher('timer-fired', [
    { activity: 'beginLauncher', gives: launched(inMs(12_000)) },
    { activity: 'runLauncher', gives: finished },
  ]),
  launcher('lead-added-at-the-end', [
    { activity: 'beginLauncher', gives: finished, meanwhile: control('leads_added'), takesMs: LONG_MS },
    { activity: 'runLauncher', gives: finished },
  ]),
  launcher('first-look-failed', [
    { activity: 'beginLauncher', fails: AWAY },
    { activity: 'runLauncher', gives: finished },
  ]),
  launcher(
    'blocked',
    [
      { activity: 'beginLauncher', gives: { kind: 'more' } },
      { activity: 'runLauncher', fails: gaveUp },
      { activity: 'runLauncher', gives: finished },
    ],
    [{ signal: 'retry', says: [{ cause: 'operator' }], events: GAVE_UP, times: 1 }],
  ),
];

const campaignId = newId();
const report = (state: RunReport['state'], decideBy: number | null = null): RunReport => ({
  state,
  campaignId,
  decideBy,
  why: null,
});
const checked = (gives: RunReport, more: Partial<Answer> = {}): Answer => ({
  activity: 'preflightRun',
  gives,
  ...more,
});
const settled = (gives: RunReport, more: Partial<Answer> = {}): Answer => ({
  activity: 'advanceRun',
  gives,
  ...more,
});
const active: Answer = { activity: 'launchRun', gives: report('active') };
const decision = (status: string): Sent => ({ signal: 'decided', says: [{ approvalId: newId(), status }] });
const hour = () => inMs(3_600_000);
const begun: Answer = { activity: 'advanceRun', gives: report('preflighting') };
const runs: Scripted[] = [
  agentRun(
    'approved',
    [begun, checked(report('awaiting_approval', hour())), settled(report('launching')), active],
    [{ ...decision('approved'), events: TIMER, times: 1 }],
  ),
  agentRun('decided-while-checked', [
    begun,
    checked(report('awaiting_approval', hour()), { meanwhile: decision('approved') }),
    settled(report('launching')),
    active,
  ]),
  // By PostgreSQL's clock the deadline passes a second later than by Temporal's.
  agentRun('expired', [
    begun,
    checked(report('awaiting_approval', inMs(8_000))),
    settled(report('awaiting_approval', inMs(8_000))),
    settled({ ...report('denied'), why: 'approval_expired' }),
  ]),
  agentRun(
    'cancelled-while-waiting',
    [begun, checked(report('awaiting_approval', hour())), settled(report('cancelled'))],
    [{ signal: 'cancelled', says: [{ cause: 'request' }], events: TIMER, times: 1 }],
  ),
  agentRun(
    'changed-after-approval',
    [
      begun,
      checked(report('awaiting_approval', hour())),
      settled(report('launching')),
      { activity: 'launchRun', gives: report('awaiting_approval', hour()) },
      settled({ ...report('denied'), why: 'approval_denied' }),
    ],
    [
      { ...decision('approved'), events: TIMER, times: 1 },
      { ...decision('denied'), events: TIMER, times: 2 },
    ],
  ),
  agentRun(
    'blocked',
    [begun, { activity: 'preflightRun', fails: gaveUp }, checked(report('active'))],
    [{ signal: 'retry', says: [{ cause: 'operator' }], events: GAVE_UP, times: 1 }],
  ),
  agentRun(
    'blocked-while-settling',
    [
      begun,
      checked(report('awaiting_approval', hour())),
      settled(report('awaiting_approval'), { patient: true, fails: gaveUp }),
      // If the failure had not blocked the workflow, the retry signal would still be pending here.
      settled(report('awaiting_approval', hour())),
      settled(report('launching')),
      active,
    ],
    [
      { ...decision('approved'), events: TIMER, times: 1 },
      { signal: 'retry', says: [{ cause: 'operator' }], events: GAVE_UP, times: 1 },
      { ...decision('approved'), events: TIMER, times: 2 },
    ],
  ),
  agentRun('database-away', [
    { activity: 'advanceRun', patient: true, gives: report('preflighting') },
    checked(report('awaiting_approval', hour()), { meanwhile: decision('approved') }),
    settled(report('launching'), { patient: true }),
    { activity: 'launchRun', fails: AWAY },
    active,
  ]),
  // DNS was queried shortly before, so the run needs no wait.
  agentRun('launched-at-once', [{ activity: 'advanceRun', gives: report('active') }]),
  // The workflow was lost and started again while it waited.
  agentRun('lost-while-waiting', [
    { activity: 'advanceRun', gives: report('awaiting_approval', inMs(8_000)) },
    settled({ ...report('denied'), why: 'approval_expired' }),
  ]),
];

const mailed: Answer = { activity: 'mailApprovers', gives: { kind: 'done', why: 'mailed 2' } };
const mailRetried: Sent = { signal: 'retry', says: [{ cause: 'operator' }] };
const approvalMails: Scripted[] = [
  approvalMail('mailed', [mailed]),
  approvalMail('retried-at-the-end', [{ ...mailed, meanwhile: mailRetried }, mailed]),
  approvalMail(
    'blocked',
    [{ activity: 'mailApprovers', fails: gaveUp }, mailed],
    [{ ...mailRetried, events: GAVE_UP, times: 1 }],
  ),
];

/** Answer to a query for a test run's next step. */
const then = (gives: TestDecision, more: Partial<Answer> = {}): Answer => ({
  activity: 'advanceTestRun',
  gives,
  ...more,
});
const testDone: TestDecision = { kind: 'done', outcome: 'completed' };
const testWait = (state: 'waiting' | 'held', ms: number): TestDecision => ({
  kind: 'wait',
  state,
  until: inMs(ms),
  where: 'Opening',
});
const testSend = (ms: number): TestDecision => ({ kind: 'send', sendId: newId(), at: inMs(ms), where: 'Opening' });
const testRetried: Sent = { signal: 'retry', says: [{ cause: 'operator' }] };

const tests: Scripted[] = [
  test(
    'event-while-waiting',
    [
      then(testSend(0)),
      sent,
      then({ kind: 'call', stepRunId: newId(), where: 'Opening' }),
      { activity: 'callAppForTest', gives: { outcome: 'success' } },
      then(testWait('waiting', 3_600_000)),
      then(testWait('held', 3_000)),
      then(testSend(3_000)),
      sent,
      then(testDone),
    ],
    [{ ...product(), events: TIMER, times: 1 }],
  ),
  test(
    'cancelled-before-a-slot',
    [then(testSend(3_600_000)), then({ kind: 'done', outcome: 'cancelled' })],
    [{ signal: 'cancelled', says: [{ cause: 'person' }], events: TIMER, times: 1 }],
  ),
  test('event-while-asking', [
    then(testWait('waiting', 3_600_000), { meanwhile: product(), takesMs: LONG_MS }),
    then(testSend(0), { meanwhile: product(), takesMs: LONG_MS }),
    then(testDone),
  ]),
  test(
    'blocked',
    [
      then(testSend(0)),
      { activity: 'deliverSend', fails: gaveUp },
      then({ kind: 'call', stepRunId: newId(), where: 'Opening' }),
      { activity: 'callAppForTest', fails: gaveUp },
      { activity: 'advanceTestRun', patient: true, fails: gaveUp },
      { activity: 'advanceTestRun', patient: true, fails: AWAY },
      then(testDone, { patient: true }),
    ],
    [
      { ...testRetried, events: SHOWN, times: 1 },
      { ...testRetried, events: SHOWN, times: 3 },
      { ...testRetried, events: GAVE_UP, times: 3 },
    ],
  ),
];

const flow = (gives: AutomationDecision, more: Partial<Answer> = {}): Answer => ({
  activity: 'advanceAutomation',
  gives,
  ...more,
});
const flowWaits = (until: number | null): AutomationDecision => ({
  kind: 'wait',
  state: 'waiting',
  until,
  where: 'waiting (later)',
});
const flowCalls = flow({ kind: 'call', nodeId: 'app', where: 'calling (app)' });
const flowDone: AutomationDecision = { kind: 'done', outcome: 'success' };
const flowCalled: Answer = { activity: 'callAutomationApp', gives: { outcome: 'success' } };
const flowTried: Sent = { signal: 'retry', says: [{ cause: 'operator' }] };
const automations: Scripted[] = [
  automation('waits-and-calls', [
    flow(flowWaits(inMs(2_000))),
    flowCalls,
    { activity: 'callAutomationApp', gives: { outcome: 'retry' } },
    flow(flowWaits(inMs(4_000))),
    flowCalls,
    flowCalled,
    flow(flowDone),
  ]),
  automation(
    'provider-answers',
    [flow(flowWaits(null)), flow(flowWaits(inMs(3_600_000))), flow(flowDone)],
    [
      { signal: 'changed', says: [{ cause: 'settled' }], events: SHOWN, times: 1 },
      { signal: 'changed', says: [{ cause: 'ended' }], events: TIMER, times: 1 },
    ],
  ),
  automation('signal-while-asking', [
    flow(flowWaits(inMs(3_600_000)), {
      meanwhile: { signal: 'changed', says: [{ cause: 'settled' }] },
      takesMs: LONG_MS,
    }),
    flow(flowDone),
  ]),
  automation(
    'blocked',
    [
      flowCalls,
      { activity: 'callAutomationApp', fails: gaveUp },
      { activity: 'advanceAutomation', patient: true, fails: gaveUp },
      flow(flowDone, { patient: true }),
    ],
    [
      { ...flowTried, events: SHOWN, times: 1 },
      { ...flowTried, events: GAVE_UP, times: 2 },
    ],
  ),
  automation(
    'call-blocked',
    [
      flowCalls,
      { activity: 'callAutomationApp', fails: gaveUp },
      flowCalls,
      { activity: 'callAutomationApp', fails: gaveUp },
      // If the workflow had not consumed the operator's earlier signal, it would now skip the wait because of it.
      flow(flowWaits(inMs(3_600_000))),
      flowCalls,
      flowCalled,
      flow(flowDone),
    ],
    [
      { signal: 'retry', says: [{ cause: 'sweep' }], events: SHOWN, times: 1 },
      { ...flowTried, events: SHOWN, times: 3 },
      { signal: 'changed', says: [{ cause: 'settled' }], events: TIMER, times: 1 },
    ],
  ),
];

const delivering = (gives: DeliveryReport): Answer => ({ activity: 'deliverToProvider', gives });
const later: DeliveryReport = { kind: 'wait', wakeAt: inMs(3_000), why: "the provider's limit" };
const allMade: DeliveryReport = { kind: 'done', why: '3 made, none is left' };
const added: Sent = { signal: 'more', says: [{ cause: 'event' }] };
const providers: Scripted[] = [
  provided('made', [delivering({ kind: 'more', why: '2 made' }), delivering(allMade)]),
  provided('waited', [delivering(later), delivering(allMade)]),
  provided(
    'woken',
    [delivering({ ...later, wakeAt: null }), delivering(allMade)],
    [{ ...added, events: 'EVENT_TYPE_ACTIVITY_TASK_COMPLETED', times: 1 }],
  ),
  provided('added-meanwhile', [
    { ...delivering(allMade), meanwhile: added, takesMs: 500 },
    delivering({ kind: 'done', why: '1 made, none is left' }),
  ]),
  provided(
    'blocked',
    [{ activity: 'deliverToProvider', fails: gaveUp }, delivering(allMade)],
    [{ signal: 'retry', says: [{ cause: 'operator' }], events: GAVE_UP, times: 1 }],
  ),
];

/** Every scripted workflow. Times are relative to the loading of this file. */
export const SCRIPTED: readonly Scripted[] = [
  ...enrollments,
  ...directSends,
  ...deliveries,
  ...batches,
  ...launchers,
  ...runs,
  ...approvalMails,
  ...TURNS,
  ...automations,
  ...providers,
  ...ORDERS,
  ...tests,
  ...CLOCKS,
];

function enrollment(name: string, answers: Answer[], later: Scripted['later'] = []): Scripted {
  const args = { organizationId, campaignId: newId(), contactId: newId() };
  return scripted(enrollmentWorkflow, args, 'enrollment', name, answers, later);
}

function direct(name: string, answers: Answer[], later: Scripted['later'] = []): Scripted {
  const args = { organizationId, directSendId: newId() };
  return scripted(directSendWorkflow, args, 'direct-send', name, answers, later);
}

function test(name: string, answers: Answer[], later: Scripted['later'] = []): Scripted {
  return scripted(testRunWorkflow, { organizationId, testRunId: newId() }, 'test-run', name, answers, later);
}

function delivery(name: string, answers: Answer[], later: Scripted['later'] = []): Scripted {
  const args = { organizationId, deliveryId: newId() };
  return scripted(webhookDeliveryWorkflow, args, 'webhook-delivery', name, answers, later);
}

function launcher(name: string, answers: Answer[], later: Scripted['later'] = []): Scripted {
  return scripted(campaignWorkflow, { organizationId, campaignId: newId() }, 'campaign', name, answers, later);
}

function agentRun(name: string, answers: Answer[], later: Scripted['later'] = []): Scripted {
  return scripted(runWorkflow, { organizationId, runId: newId() }, 'run', name, answers, later);
}

function approvalMail(name: string, answers: Answer[], later: Scripted['later'] = []): Scripted {
  const args = { organizationId, approvalId: newId() };
  return scripted(approvalMailWorkflow, args, 'approval-mail', name, answers, later);
}

function provided(name: string, answers: Answer[], later: Scripted['later'] = []): Scripted {
  const args = { organizationId, connectionId: newId() };
  return scripted(integrationDeliveryWorkflow, args, 'integration-delivery', name, answers, later);
}

function automation(name: string, answers: Answer[], later: Scripted['later'] = []): Scripted {
  return scripted(automationWorkflow, { organizationId, runId: newId() }, 'automation', name, answers, later);
}
