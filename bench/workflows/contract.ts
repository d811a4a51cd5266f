/** Task queue of the bare worker. */
export const BARE_QUEUE = 'bench-bare';

/** Activities per email step of the empty workflow, in the shape of an enrollment. */
export interface BareActivities {
  decide(args: { organizationId: string; enrollmentId: string }): Promise<object>;
  deliver(args: { organizationId: string; sendId: string }): Promise<object>;
}

export interface BareArgs {
  organizationId: string;
  campaignId: string;
  contactId: string;
  enrollmentId: string;
  /** One entry per email step: true if the step first waits for a timer. */
  timers: boolean[];
}

/** Arguments of an agent's run. */
export interface BareRunArgs {
  organizationId: string;
  runId: string;
}
