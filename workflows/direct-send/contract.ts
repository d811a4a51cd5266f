import { defineWorkflow, type ApprovalSignals, type ArgsOf } from '../contract.ts';

/**
 * Signals of a direct send. A signal only wakes the workflow. The state is in PostgreSQL, so a lost or repeated signal only
 * causes a delay.
 */
export type DirectSendSignals = ApprovalSignals & {
  /** The email was cancelled. */
  changed: { cause: 'cancelled' };
  /** Continues a workflow that failed repeatedly, or an email that failed or is uncertain. */
  retry: { cause: 'operator' | 'sweep' };
};

/** One email written by a person or an agent: a new one or a reply. */
export const directSendWorkflow = defineWorkflow<DirectSendSignals>()({
  type: 'directSend',
  kind: 'direct-send',
  parts: ['directSendId'],
  summary: ({ directSendId }) => `Direct send ${directSendId}`,
  cancel:
    'An email that is being sent is finished; maintenance opens another run. Cancel the email in Heron to stop it.',
});

/** Arguments of the direct send workflow. */
export type DirectSendArgs = ArgsOf<typeof directSendWorkflow>;

/** Next step decided by PostgreSQL. Times are epoch milliseconds; `where` describes the step for people. */
export type DirectDecision =
  /** Waits for the email's time, for its slot, or for the end of its approval. */
  | { kind: 'wait'; state: 'scheduled' | 'awaiting_approval' | 'held'; until: number; where: string }
  /** Sends the email at its slot, or settles it after a worker died. */
  | { kind: 'send'; at: number; where: string }
  | { kind: 'done'; outcome: string };

/** Activities that the workflow calls. */
export interface DirectSendActivities {
  /**
   * Advances the email as far as possible and returns the next step. A local activity, because it only queries
   * PostgreSQL.
   */
  advanceDirectSend(args: DirectSendArgs): Promise<DirectDecision>;
  /** Sends the email at its slot, or settles it after a worker died. */
  deliverSend(args: { organizationId: string; sendId: string }): Promise<{ outcome: string }>;
}
