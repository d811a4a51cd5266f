import { defineWorkflow, type ArgsOf } from '../contract.ts';

/** Signals of a warmup. They are hints: the state is in PostgreSQL. */
export type WarmupSignals = {
  /** It was started, paused, resumed or stopped, its settings changed, or a reply is due before what it waits for. */
  changed: { cause: 'start' | 'pause' | 'resume' | 'stop' | 'settings' | 'reply' };
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

/** Why turns have ended: warmup is off, or rests until a signal. */
export interface WarmupRest {
  kind: 'rest' | 'done';
  why: string;
}

/** Activities of this family, as the workflow sees them. */
export interface WarmupActivities {
  /**
   * Takes the turn that is due (plans the day where needed, sends an email) and fails, with the time of the next turn as its retry
   * delay, until there is nothing to wait for but a signal.
   */
  keepWarm(args: WarmupArgs): Promise<WarmupRest>;
}
