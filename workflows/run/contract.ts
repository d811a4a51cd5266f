import { defineWorkflow, type ApprovalSignals, type ArgsOf } from '../contract.ts';

/** Signals of a run. They are hints: the state is in PostgreSQL. */
export type RunSignals = ApprovalSignals & {
  /** The run was cancelled and must end. */
  cancelled: { cause: 'request' | 'campaign_deleted' };
  /** An operator or the sweep retries a run that kept failing. */
  retry: { cause: 'operator' | 'sweep' };
};

/** Run of an agent until its campaign is launched: checks, a person's decision, the launch. */
export const runWorkflow = defineWorkflow<RunSignals>()({
  type: 'run',
  kind: 'run',
  parts: ['runId'],
  summary: ({ runId }) => `Run ${runId}`,
  cancel: 'Ends this run; maintenance opens another one. Cancel the run in Heron (POST /v1/runs/:id/cancel) to end it.',
});

/** Arguments of the agent run workflow. */
export type RunArgs = ArgsOf<typeof runWorkflow>;

/** State of a run in PostgreSQL. */
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

/** Progress of a run. `decideBy` (epoch ms) is the end of its wait for a person. */
export interface RunReport {
  state: RunProgress;
  campaignId: string;
  decideBy: number | null;
  /** Reason for this state as a code; null if the state needs no reason. */
  why: string | null;
}

/** Activities of this family for the workflow. */
export interface RunActivities {
  /**
   * Starts a queued run. For a waiting run, applies the person's decision or its expiry. Local: it only queries
   * PostgreSQL.
   */
  advanceRun(args: RunArgs): Promise<RunReport>;
  /**
   * Checks the campaign and asks the policy. The run then fails, completes as a draft, waits for a person, or continues
   * to the launch.
   */
  preflightRun(args: RunArgs): Promise<RunReport>;
  /** Repeats the checks and starts the campaign, in one transaction. */
  launchRun(args: RunArgs): Promise<RunReport>;
}
