import { defineWorkflow, type ArgsOf } from '../contract.ts';

/** Signals of a warmup. They are hints: the state is in PostgreSQL. */
export type WarmupSignals = {
  /** It was started, paused, resumed or stopped. */
  changed: { cause: 'start' | 'pause' | 'resume' | 'stop' };
  /** An operator or the sweep retries a run that kept failing. */
  retry: { cause: 'operator' | 'sweep' };
};

/** The warmup of one mailbox, from its start until it is stopped. */
export const warmupWorkflow = defineWorkflow<WarmupSignals>()({
  type: 'warmup',
  kind: 'warmup',
  parts: ['mailboxId'],
  summary: ({ mailboxId }) => `Warmup of mailbox ${mailboxId}`,
});

/** Arguments of a warmup. */
export type WarmupArgs = ArgsOf<typeof warmupWorkflow>;

/** What a turn found. `wakeAt` is epoch milliseconds; null waits for a signal. */
export type WarmupReport = { kind: 'wait'; wakeAt: number | null; why: string } | { kind: 'done'; why: string };

/** Activities of this family, as the workflow sees them. */
export interface WarmupActivities {
  /** Plans the day where needed, sends what is due, and says when the next email is. */
  warmupTurn(args: WarmupArgs): Promise<WarmupReport>;
}
