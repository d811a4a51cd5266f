import { CancellationScope, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { ask } from '../ask.ts';
import { blockedReason } from '../blocked.ts';
import { continueWhenLong } from '../continue.ts';
import { deliver } from '../deliver.ts';
import { waitAsTold, waitUntil } from '../interruptible.ts';
import { resourceQueue } from '../queues.ts';
import type {
  Call,
  Decision,
  EnrollmentActivities,
  EnrollmentArgs,
  Hold,
  Send,
  Slot,
  Wait,
  WaitForEvent,
} from './contract.ts';
import { listenForHints, type Hints } from './hints.ts';
import { showDecisions } from './show.ts';

/** What each step of the sequence gets. */
interface Run {
  args: EnrollmentArgs;
  hints: Hints;
  show(decision: Decision): void;
}

type Shown = { where: string };

/**
 * One contact in a campaign: wait, wait for an event, send at a slot, call an app, hold, until done.
 * PostgreSQL decides which of them comes next; this run waits as long as needed, does it, and asks again. A signal
 * is a hint that something has changed and makes it ask early, so a lost or repeated one only delays.
 */
export async function enrollment(args: EnrollmentArgs): Promise<string> {
  const hints = listenForHints();
  const run: Run = { args, hints, show: showDecisions(hints) };
  for (;;) {
    run.hints.take();
    const decision = await decide(run);
    run.show(decision);
    switch (decision.kind) {
      case 'wait':
        await wait(run, decision);
        break;
      case 'waitForEvent':
        await waitForEvent(run, decision);
        break;
      case 'slot':
        await sendAtSlot(run, decision);
        break;
      case 'send':
        await send(run, decision);
        break;
      case 'call':
        await call(run, decision);
        break;
      case 'hold':
        await hold(run, decision);
        break;
      case 'done':
        // A lead that was removed may have been added again meanwhile; the signal of its launch shows it.
        if (!run.hints.any()) return decision.outcome;
    }
    await continueWhenLong(run.args);
  }
}

/** Asks PostgreSQL. A contact whose question keeps failing is blocked. */
async function decide({ args }: Run): Promise<Decision> {
  const answer = await ask((activities: EnrollmentActivities) => activities.advanceEnrollment(args));
  return answer.kind === 'blocked'
    ? { kind: 'hold', until: null, state: 'blocked', where: answer.where, step: null }
    : answer;
}

/** Time passes: a wait step, the day of an email, the next time mail may go out. */
async function wait({ hints }: Run, { until, where }: Wait & Shown): Promise<void> {
  await waitAsTold(until, hints.any, where);
}

/** Waits for the contact's product event or its deadline; PostgreSQL decides which came first. */
async function waitForEvent({ hints }: Run, { until, where }: WaitForEvent & Shown): Promise<void> {
  await waitAsTold(until, hints.any, where);
}

/** The email leaves at its slot, unless something has changed by then. */
async function sendAtSlot(run: Run, { sendId, at, where }: Slot & Shown): Promise<void> {
  await waitUntil(at, run.hints.any, where);
  if (!run.hints.any()) await send(run, { kind: 'send', sendId, where });
}

/**
 * Sends one email. Cancelling the run does not cancel this activity, because nothing else would settle the email; where it is blocked there is nothing
 * to settle any more, and the run ends.
 */
async function send(run: Run, { sendId, where }: Send & Shown): Promise<void> {
  const { organizationId } = run.args;
  await orHold(run, () => CancellationScope.nonCancellable(() => deliver({ organizationId, sendId }, where)));
}

/** Calls the customer's app; its answer is stored with the step. */
async function call(run: Run, { stepRunId, where }: Call & Shown): Promise<void> {
  const { callApp } = proxyActivities<EnrollmentActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'apps'),
    summary: where,
    startToCloseTimeout: '1m',
    heartbeatTimeout: '15s',
    retry: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '5m' },
  });
  await orHold(run, () => callApp({ organizationId: run.args.organizationId, stepRunId }));
}

/** Waits until a person or the campaign changes something, or until its time. */
async function hold({ hints }: Run, { until, where }: Hold & Shown): Promise<void> {
  await waitAsTold(until, hints.any, where);
}

/** When the work keeps failing, the contact is blocked in PostgreSQL: holds until it is retried. */
async function orHold(run: Run, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const blocked = { kind: 'hold', until: null, state: 'blocked', where: blockedReason(error), step: null } as const;
    run.show(blocked);
    await hold(run, blocked);
  }
}
