import { defineWorkflow, type ApprovalSignals, type ArgsOf } from '../contract.ts';

/** Signals of this workflow. A signal only wakes the workflow; the state is in PostgreSQL. */
export type RunSignals = ApprovalSignals & {
  /** The agent run was cancelled, so the workflow must end. */
  cancelled: { cause: 'request' | 'campaign_deleted' };
  /** An operator or the sweep retries a workflow that failed repeatedly. */
  retry: { cause: 'operator' | 'sweep' };
};

/** Agent run until its campaign is launched: checks, a person's decision, the launch. */
export const runWorkflow = defineWorkflow<RunSignals>()({
  type: 'run',
  kind: 'run',
  parts: ['runId'],
  summary: ({ runId }) => `Run ${runId}`,
  cancel: 'Ends this run; maintenance opens another one. Cancel the run in Heron (POST /v1/runs/:id/cancel) to end it.',
});

/** Arguments of the agent run workflow. */
export type RunArgs = ArgsOf<typeof runWorkflow>;

/** State of an agent run in PostgreSQL. */
type RunProgress =
  | 'queued'
  | 'preflighting'
  | 'awaiting_approval'
  | 'launching'
  | 'active'
  | 'paused'
  | 'completed'
  | 'failed'
  | 'denied'
  | 'cancelled';

/** Progress of an agent run. `decideBy` (epoch ms) is the end of its wait for a person. */
export interface RunReport {
  state: RunProgress;
  campaignId: string;
  decideBy: number | null;
  /** Reason for this state as a code; null if the state needs no reason. */
  why: string | null;
}

/** Activities that the workflow calls. */
export interface RunActivities {
  /**
   * Begins a queued run. For a waiting run, applies the person's decision or its expiry. A local activity, because it
   * only queries PostgreSQL.
   */
  advanceRun(args: RunArgs): Promise<RunReport>;
  /**
   * Checks the campaign and evaluates the policy. The run then fails, completes as a draft, waits for a person, or
   * continues to the launch.
   */
  preflightRun(args: RunArgs): Promise<RunReport>;
  /** Repeats the checks and starts the campaign, in one transaction. */
  launchRun(args: RunArgs): Promise<RunReport>;
}
