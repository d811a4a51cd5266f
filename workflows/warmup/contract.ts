import { defineWorkflow, type ArgsOf } from '../contract.ts';

/** Signals of a warmup. A signal only wakes the workflow; the state is in PostgreSQL. */
export type WarmupSignals = {
  /**
   * Warmup was started, paused, resumed or stopped, its settings changed, or a reply is due before the current wait
   * ends.
   */
  changed: { cause: 'start' | 'pause' | 'resume' | 'stop' | 'settings' | 'reply' };
  /** An operator or the sweep retries a workflow that failed repeatedly. */
  retry: { cause: 'operator' | 'sweep' };
};

/** Warmup of one mailbox, from its start until it is stopped. */
export const warmupWorkflow = defineWorkflow<WarmupSignals>()({
  type: 'warmup',
  kind: 'warmup',
  parts: ['mailboxId'],
  summary: ({ mailboxId }) => `Warmup of mailbox ${mailboxId}`,
  cancel: 'Ends this run; maintenance opens another one. Stop the warmup of the mailbox to end it.',
});

/** Arguments of a warmup. */
export type WarmupArgs = ArgsOf<typeof warmupWorkflow>;

/** Result of one iteration. `wakeAt` is epoch milliseconds; null waits for a signal. */
export type WarmupReport =
  | { kind: 'wait'; wakeAt: number | null; why: string; state?: 'resting' }
  | { kind: 'done'; why: string };

/** Activities that the workflow calls. */
export interface WarmupActivities {
  /** Plans the day if needed, sends the due email, and returns the time at which the next one is due. */
  warmupTurn(args: WarmupArgs): Promise<WarmupReport>;
}
