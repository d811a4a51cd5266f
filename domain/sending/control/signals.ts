import { signal, signalOpen, type Memo } from '../../../temporal/dispatch.ts';
import { campaignWorkflow, type CampaignSignals } from '../../../workflows/campaign/contract.ts';
import {
  enrollmentWorkflow,
  type EnrollmentArgs,
  type EnrollmentSignals,
  type Launched,
} from '../../../workflows/enrollment/contract.ts';
import type { Tx } from '../../platform/kernel/transact.ts';

/** Identifies an enrollment workflow by campaign and contact. */
export interface EnrollmentRun {
  campaign_id: string;
  contact_id: string;
}

/**
 * Each function below signals a workflow for one cause. The signal is sent after the commit and makes the workflow read
 * its state again. The cause is for operators, who see it in the workflow's history. Call the matching function
 * whenever a fact changes that a workflow waits for.
 */

/** Signals that a product event has ended a wait of the contact. */
export function signalEvent(tx: Tx, run: EnrollmentRun, eventId: string): void {
  tx.intend(signal(enrollmentWorkflow, argsOf(tx, run), 'event', { eventId }));
}

/** Signals incoming mail: a reply, bounce, complaint, opt-out or away message. */
export function signalReply(tx: Tx, run: EnrollmentRun, reply: EnrollmentSignals['reply']): void {
  tx.intend(signal(enrollmentWorkflow, argsOf(tx, run), 'reply', reply));
}

/**
 * Signals a change by a person or the launcher that affects the lead. `epoch` is the campaign's control epoch, if it
 * changed.
 */
export function signalControl(
  tx: Tx,
  run: EnrollmentRun,
  cause: EnrollmentSignals['control']['cause'],
  epoch: number | null = null,
): void {
  tx.intend(signal(enrollmentWorkflow, argsOf(tx, run), 'control', { cause, epoch }));
}

/** Signals that the contact has finished in PostgreSQL, so that a running workflow ends. Starts no workflow. */
export function signalFinished(tx: Tx, run: EnrollmentRun, reply?: EnrollmentSignals['reply']): void {
  const args = argsOf(tx, run);
  tx.intend(
    reply
      ? signalOpen(enrollmentWorkflow, args, 'reply', reply)
      : signalOpen(enrollmentWorkflow, args, 'control', { cause: 'finished', epoch: null }),
  );
}

/** Signals that a blocked contact is to continue. */
export function signalRetry(tx: Tx, run: EnrollmentRun, retry: EnrollmentSignals['retry']): void {
  tx.intend(signal(enrollmentWorkflow, argsOf(tx, run), 'retry', retry));
}

/**
 * Starts the workflow of a contact that the launcher has just activated. Uses signal-with-start: the workflow of a lead
 * that was removed and added again may still be running and must read its state again.
 * @param slot stored slot of the first email, which a new workflow uses without requesting a decision
 */
export function launchEnrollment(
  tx: Tx,
  run: EnrollmentRun,
  epoch: number,
  { memo, slot }: { memo: Memo; slot?: Omit<Launched, 'cause' | 'epoch'> | undefined },
): void {
  tx.intend(signal(enrollmentWorkflow, argsOf(tx, run), 'control', { cause: 'launched', epoch, ...slot }, { memo }));
}

/** Signals a campaign's launcher. `epoch` is the campaign's control epoch, if it changed. */
export function signalLauncher(
  tx: Tx,
  campaignId: string,
  cause: CampaignSignals['control']['cause'],
  epoch: number | null = null,
): void {
  tx.intend(
    signal(campaignWorkflow, { organizationId: tx.org.organizationId, campaignId }, 'control', { cause, epoch }),
  );
}

function argsOf(tx: Tx, { campaign_id: campaignId, contact_id: contactId }: EnrollmentRun): EnrollmentArgs {
  return { organizationId: tx.org.organizationId, campaignId, contactId };
}
