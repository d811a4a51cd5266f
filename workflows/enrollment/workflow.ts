import { queryNextStep } from '../next-step.ts';
import { restartAsNewWhenLong } from '../continue.ts';
import { waitUntilWorkerTime, waitUntil } from '../interruptible.ts';
import { performCall, send, sendAt } from '../steps.ts';
import type { DeliverArgs, EnrollmentActivities, EnrollmentArgs } from './contract.ts';
import { listenForHints } from './hints.ts';
import { showDecisions } from './show.ts';

/**
 * Workflow of one contact in a campaign. It waits for a time or an event, sends at a slot, or calls an app, until the
 * contact is done. PostgreSQL decides the next step. This workflow waits, executes the decision, and requests the next
 * one. The activity that sends an email also returns the next decision, and the launcher's signal may contain the first
 * one. Any other signal only makes the workflow request the next decision early, so a lost or repeated signal only
 * causes a delay.
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
      // A timer or a signal ends the wait. PostgreSQL decides which of the two came first.
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
        // A removed lead may have been added again in the meantime; the signal of its launch then continues the loop.
        if (!hints.any()) return decision.outcome;
    }
    await restartAsNewWhenLong(args);
  }
}
