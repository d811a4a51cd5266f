import { signal, signalOpen, type Memo } from '../../../temporal/dispatch.ts';
import { campaignWorkflow, type CampaignSignals } from '../../../workflows/campaign/contract.ts';
import {
  enrollmentWorkflow,
  type EnrollmentArgs,
  type EnrollmentSignals,
} from '../../../workflows/enrollment/contract.ts';
import type { Tx } from '../../platform/kernel/transact.ts';

/** The contact and campaign whose run is meant. */
export interface EnrollmentRun {
  campaign_id: string;
  contact_id: string;
}

/*
 * One verb per cause. Each signals a run, after the commit, that something its decisions depend on has changed, and why:
 * an operator reads the cause in the history. Call them whenever a verb changed something that a run waits for.
 */

/** A product event settled a wait of the contact. */
export function signalEvent(tx: Tx, run: EnrollmentRun, eventId: string): void {
  tx.intend(signal(enrollmentWorkflow, argsOf(tx, run), 'event', { eventId }));
}

/** Mail came back: a reply, a bounce, a complaint, an opt-out or an absence. */
export function signalReply(tx: Tx, run: EnrollmentRun, reply: EnrollmentSignals['reply']): void {
  tx.intend(signal(enrollmentWorkflow, argsOf(tx, run), 'reply', reply));
}

/** A person or the launcher changed what the run decides by. `epoch` is the campaign's control epoch, where that moved. */
export function signalControl(
  tx: Tx,
  run: EnrollmentRun,
  cause: EnrollmentSignals['control']['cause'],
  epoch: number | null = null,
): void {
  tx.intend(signal(enrollmentWorkflow, argsOf(tx, run), 'control', { cause, epoch }));
}

/** The contact has finished in PostgreSQL: a run that is open looks and ends; none is opened for it. */
export function signalFinished(tx: Tx, run: EnrollmentRun, reply?: EnrollmentSignals['reply']): void {
  const args = argsOf(tx, run);
  tx.intend(
    reply
      ? signalOpen(enrollmentWorkflow, args, 'reply', reply)
      : signalOpen(enrollmentWorkflow, args, 'control', { cause: 'finished', epoch: null }),
  );
}

/** A blocked contact is to go on. */
export function signalRetry(tx: Tx, run: EnrollmentRun, retry: EnrollmentSignals['retry']): void {
  tx.intend(signal(enrollmentWorkflow, argsOf(tx, run), 'retry', retry));
}

/**
 * Opens the run of a contact that the launcher has just made active. It is a signal with a start: the run of a lead that
 * was removed and added again may still be open, and then has to ask again.
 */
export function launchEnrollment(tx: Tx, run: EnrollmentRun, epoch: number, memo: Memo): void {
  tx.intend(signal(enrollmentWorkflow, argsOf(tx, run), 'control', { cause: 'launched', epoch }, { memo }));
}

/** Wakes a campaign's launcher. `epoch` is the campaign's control epoch, where that moved. */
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
