import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { defineSearchAttributeKey } from '@temporalio/common';
import { waitUntil } from '../interruptible.ts';
import {
  NUDGE,
  type Decision,
  type EnrollmentActivities,
  type EnrollmentArgs,
  type EnrollmentSignals,
} from './contract.ts';

const local = proxyLocalActivities<EnrollmentActivities>({
  startToCloseTimeout: '30s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '2s', maximumAttempts: 5 },
});

// While the database is away. Its retries are the server's and leave no trace in the history, however long that takes.
const patient = proxyActivities<EnrollmentActivities>({
  startToCloseTimeout: '30s',
  summary: 'ask again what comes next',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
});

const MAIL = {
  startToCloseTimeout: '5m',
  // A task that never reached its worker comes back this soon; one that did and is slow is told that another has the email.
  heartbeatTimeout: '10s',
  retry: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '1m' },
} as const;

const APP = {
  startToCloseTimeout: '1m',
  heartbeatTimeout: '15s',
  retry: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '5m' },
} as const;

const nudge = defineSignal(NUDGE);
const event = defineSignal<[EnrollmentSignals['event']]>('event');
const reply = defineSignal<[EnrollmentSignals['reply']]>('reply');
const control = defineSignal<[EnrollmentSignals['control']]>('control');
const retry = defineSignal<[EnrollmentSignals['retry']]>('retry');
const stateAttribute = defineSearchAttributeKey('State', 'KEYWORD');

/**
 * One contact's way through a campaign. It decides nothing itself: PostgreSQL says what comes next, this run waits for
 * it, does it, and asks again. A lost or repeated nudge therefore only delays.
 */
export async function enrollment(args: EnrollmentArgs): Promise<string> {
  let nudges = 0;
  let shown = '';
  for (const hint of [nudge, event, reply, control, retry])
    setHandler(hint, () => {
      nudges += 1;
    });

  const show = (decision: Exclude<Decision, { kind: 'done' }>) => {
    const until = decision.kind === 'sleep' ? decision.until : decision.kind === 'send' ? decision.at : null;
    setCurrentDetails(until === null ? decision.where : `${decision.where} until ${new Date(until).toISOString()}`);
    const state = decision.kind === 'sleep' ? decision.state : 'active';
    // Only what an operator filters by is worth an event in the history.
    if (state !== shown && ((state !== 'waiting' && state !== 'active') || shown === 'held' || shown === 'blocked')) {
      upsertSearchAttributes([{ key: stateAttribute, value: state }]);
    }
    shown = state;
  };

  for (;;) {
    const seen = nudges;
    const interrupted = () => nudges !== seen;
    const decision = await advance(args);
    if (decision.kind === 'done') {
      setCurrentDetails(`finished: ${decision.outcome}`);
      return decision.outcome;
    }
    show(decision);
    if (decision.kind === 'sleep') await waitUntil(decision.until, interrupted, decision.where);
    if (decision.kind === 'call') {
      const { callApp } = proxyActivities<EnrollmentActivities>({ ...APP, summary: decision.where });
      await callApp({ organizationId: args.organizationId, stepRunId: decision.stepRunId });
    }
    if (decision.kind === 'send') {
      if (decision.at !== null) await waitUntil(decision.at, interrupted, decision.where);
      if (!interrupted()) {
        const { deliverSend } = proxyActivities<EnrollmentActivities>({ ...MAIL, summary: decision.where });
        // An email in a worker's hands is settled whatever happens to the run: nobody else would.
        await CancellationScope.nonCancellable(() =>
          deliverSend({ organizationId: args.organizationId, sendId: decision.sendId }),
        );
      }
    }
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof enrollment>(args);
    }
  }
}

async function advance({ organizationId, campaignId, contactId }: EnrollmentArgs): Promise<Decision> {
  try {
    return await local.advanceEnrollment({ organizationId, campaignId, contactId });
  } catch (error) {
    if (isCancellation(error)) throw error;
    return patient.advanceEnrollment({ organizationId, campaignId, contactId });
  }
}
