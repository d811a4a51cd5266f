import { queryNextStep } from '../next-step.ts';
import { restartAsNewWhenLong } from '../continue.ts';
import { waitUntilWorkerTime, waitUntil } from '../interruptible.ts';
import { performCall, send, sendAt } from '../steps.ts';
import type { DeliverArgs, EnrollmentActivities, EnrollmentArgs } from './contract.ts';
import { listenForHints } from './hints.ts';
import { showDecisions } from './show.ts';

/**
 * Workflow of one contact in a campaign: wait, wait for an event, send at a slot, call an app, hold, until done.
 * PostgreSQL decides the next step. This workflow waits, executes the decision, and requests the next one. The activity
 * that sends an email also returns the decision after it, and the launcher may hand over the first one with its signal.
 * Any other signal only hints at a change and causes an early decision, so a lost or repeated one only delays.
 */
export async function enrollment(args: EnrollmentArgs): Promise<string> {
  const { organizationId, campaignId, contactId } = args;
  const hints = listenForHints();
  const run = { hints, show: showDecisions(hints) };
  const ask = () => {
    hints.take();
    return queryNextStep((activities: EnrollmentActivities) => activities.advanceEnrollment(args));
  };
  const emailOf = ({ sendId, mailboxId }: { sendId: string; mailboxId: string | null }): DeliverArgs => ({
    organizationId,
    sendId,
    lead: { campaignId, contactId, mailboxId },
  });
  let next = hints.takeFirst();
  for (;;) {
    const decision = next ?? (await ask());
    next = undefined;
    run.show(decision);
    switch (decision.kind) {
      // The timer may fire, a product event may arrive, or a person or the campaign may cause a change. PostgreSQL
      // decides which one was first.
      case 'wait':
      case 'waitForEvent':
      case 'hold':
        await waitUntilWorkerTime(decision.until, hints.any, decision.where);
        break;
      case 'slot':
        next = await sendAt(run, emailOf(decision), decision);
        break;
      case 'send':
        next = await send(run, emailOf(decision), decision.where);
        break;
      case 'call': {
        const { stepRunId, where } = decision;
        await performCall<EnrollmentActivities>(run, where, ({ callApp }) => callApp({ organizationId, stepRunId }));
        break;
      }
      case 'blocked':
        await waitUntil(null, hints.any, decision.where);
        break;
      case 'done':
        // A removed lead may have been added again in the meantime; the signal of its launch then restarts the loop.
        if (!hints.any()) return decision.outcome;
    }
    await restartAsNewWhenLong(args);
  }
}
