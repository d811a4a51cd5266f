import { defineWorkflow, type ApprovalSignals, type ArgsOf } from '../contract.ts';

/** Signals of a direct send. They are hints: the state is in PostgreSQL, so a lost or repeated one only delays. */
export type DirectSendSignals = ApprovalSignals & {
  /** It was cancelled. */
  changed: { cause: 'cancelled' };
  /** A run that kept failing, or an email that failed or is uncertain, is to continue. */
  retry: { cause: 'operator' | 'sweep' };
};

/** One email that a person or an agent wrote: a new one, or a reply. */
export const directSendWorkflow = defineWorkflow<DirectSendSignals>()({
  type: 'directSend',
  kind: 'direct-send',
  parts: ['directSendId'],
  summary: ({ directSendId }) => `Direct send ${directSendId}`,
  cancel:
    'An email that is being sent is finished; maintenance opens another run. Cancel the email in Heron to stop it.',
});

/** Arguments of a direct send's run. */
export type DirectSendArgs = ArgsOf<typeof directSendWorkflow>;

/** What PostgreSQL has decided comes next. Times are epoch milliseconds; `where` describes it for people. */
export type DirectDecision =
  /** Until its time, its slot, or the end of its approval. */
  | { kind: 'wait'; state: 'scheduled' | 'awaiting_approval' | 'held'; until: number; where: string }
  /** It has a slot: send it then, or settle what a dead worker left of it. */
  | { kind: 'send'; at: number; where: string }
  | { kind: 'done'; outcome: string };

/** Activities of this family, as the workflow sees them. */
export interface DirectSendActivities {
  /** Moves the email as far as it can go now and returns what comes next. Local: it only queries PostgreSQL. */
  advanceDirectSend(args: DirectSendArgs): Promise<DirectDecision>;
  /** Sends the email at its slot, or settles one that a dead worker left behind. */
  deliverSend(args: { organizationId: string; sendId: string }): Promise<{ outcome: string }>;
}
