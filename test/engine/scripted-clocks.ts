import { newId } from '../../lib/ids.ts';
import { automationWorkflow, type AutomationDecision } from '../../workflows/automation/contract.ts';
import { directSendWorkflow, type DirectDecision } from '../../workflows/direct-send/contract.ts';
import { enrollmentWorkflow, type Decision } from '../../workflows/enrollment/contract.ts';
import { mailboxOrderWorkflow, type OrderDecision } from '../../workflows/mailbox-order/contract.ts';
import { testRunWorkflow, type TestDecision } from '../../workflows/test-run/contract.ts';
import { scripted, type Scripted } from './script.ts';

const organizationId = newId();
const NAME = 'clock-behind';
/** Time that is past by Temporal's clock, but in the future by the worker's clock. */
const until = Date.now() - 1_000;
const where = 'Opening';

function answers<Decided>(activity: string, waits: Decided, over: Decided) {
  return [waits, over].map((gives) => ({ activity, gives }));
}

/**
 * Workflows that wait until a time that is already past by their own clock. They query the next step again after a
 * pause.
 */
export const CLOCKS: readonly Scripted[] = [
  scripted(
    enrollmentWorkflow,
    { organizationId, campaignId: newId(), contactId: newId() },
    'enrollment',
    NAME,
    answers<Decision>(
      'advanceEnrollment',
      { kind: 'wait', until, where, step: where },
      { kind: 'done', outcome: 'completed' },
    ),
  ),
  scripted(
    directSendWorkflow,
    { organizationId, directSendId: newId() },
    'direct-send',
    NAME,
    answers<DirectDecision>(
      'advanceDirectSend',
      { kind: 'wait', state: 'scheduled', until, where },
      { kind: 'done', outcome: 'cancelled' },
    ),
  ),
  scripted(
    automationWorkflow,
    { organizationId, runId: newId() },
    'automation',
    NAME,
    answers<AutomationDecision>(
      'advanceAutomation',
      { kind: 'wait', state: 'waiting', until, where },
      { kind: 'done', outcome: 'success' },
    ),
  ),
  scripted(
    mailboxOrderWorkflow,
    { organizationId, orderId: newId() },
    'mailbox-order',
    NAME,
    answers<OrderDecision>(
      'advanceMailboxOrder',
      { kind: 'wait', state: 'awaiting_payment', until, where },
      { kind: 'done', state: 'ready', where: 'ready' },
    ),
  ),
  scripted(
    testRunWorkflow,
    { organizationId, testRunId: newId() },
    'test-run',
    NAME,
    answers<TestDecision>(
      'advanceTestRun',
      { kind: 'wait', state: 'waiting', until, where },
      { kind: 'done', outcome: 'completed' },
    ),
  ),
];
