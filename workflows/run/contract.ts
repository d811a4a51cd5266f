import { defineWorkflow, type ApprovalSignals, type ArgsOf } from '../contract.ts';

/** Signals of a run. They are hints: the state is in PostgreSQL. */
export type RunSignals = ApprovalSignals & {
  /** The run was cancelled: look, and end. */
  cancelled: { cause: 'request' | 'campaign_deleted' };
  /** An operator or the sweep retries a run that kept failing. */
  retry: { cause: 'operator' | 'sweep' };
};

/** An agent's run until its campaign is launched: checks, the wait for a person, the launch. */
export const runWorkflow = defineWorkflow<RunSignals>()({
  type: 'run',
  kind: 'run',
  parts: ['runId'],
  summary: ({ runId }) => `Run ${runId}`,
  cancel: 'Ends this run; maintenance opens another one. Cancel the run in Heron (POST /v1/runs/:id/cancel) to end it.',
});

/** Arguments of a run. */
export type RunArgs = ArgsOf<typeof runWorkflow>;

/** The state of a run, as PostgreSQL has it. */
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

/** How far a run is. `decideBy` is epoch milliseconds: until when it waits for a person. */
export interface RunReport {
  state: RunProgress;
  campaignId: string;
  decideBy: number | null;
  /** Why it is in this state, as a code; null where the state says it. */
  why: string | null;
}

/** Activities of this family, as the workflow sees them. */
export interface RunActivities {
  /** Begins a run that is queued, and follows the person's decision, or its absence, where the run waits. Local: it only asks PostgreSQL. */
  advanceRun(args: RunArgs): Promise<RunReport>;
  /** Checks the campaign and asks the policy: fails, completes a draft, waits for a person, or goes on to the launch. */
  preflightRun(args: RunArgs): Promise<RunReport>;
  /** Checks again and starts the campaign, in one transaction. */
  launchRun(args: RunArgs): Promise<RunReport>;
}
