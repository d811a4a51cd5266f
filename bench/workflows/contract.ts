/** Task queue of the worker with empty activities. */
export const BARE_QUEUE = 'bench-bare';

/** Activities of an email step in the empty workflow. They have the form of an enrollment's activities. */
export interface BareActivities {
  decide(args: { organizationId: string; enrollmentId: string }): Promise<object>;
  deliver(args: { organizationId: string; sendId: string }): Promise<object>;
}

export interface BareArgs {
  organizationId: string;
  campaignId: string;
  contactId: string;
  enrollmentId: string;
  /** One entry per email step; true if the step first waits for a timer. */
  timers: boolean[];
}

/** Arguments of an agent run's workflow. */
export interface BareRunArgs {
  organizationId: string;
  runId: string;
}
