import { defineWorkflow, type ArgsOf } from '../contract.ts';

/** Signals of a launcher. A signal only wakes the workflow; the state is in PostgreSQL. */
export type CampaignSignals = {
  /**
   * Something that the launcher's decisions depend on has changed. `epoch` is the campaign's control epoch, if that
   * changed.
   */
  control: { cause: LauncherCause; epoch: number | null };
  /** An operator or the sweep retries a launcher that failed repeatedly. */
  retry: { cause: 'operator' | 'sweep' };
};

/** Reasons for signalling a launcher. */
type LauncherCause =
  | 'started'
  | 'paused'
  | 'edited'
  | 'leads_added'
  | 'lead_released'
  | 'lead_removed'
  | 'pool'
  | 'emptied';

/**
 * Launcher of one campaign: starts due leads as capacity allows, signals enrollment workflows after edits, and detects
 * completion.
 */
export const campaignWorkflow = defineWorkflow<CampaignSignals>()({
  type: 'campaign',
  kind: 'campaign',
  parts: ['campaignId'],
  summary: ({ campaignId }) => `Launcher of campaign ${campaignId}`,
  cancel: 'Ends this run; maintenance opens another one. Pause the campaign to stop its launches.',
});

/** Arguments of a campaign's launcher. */
export type CampaignArgs = ArgsOf<typeof campaignWorkflow>;

/** Result of a launcher that found no further due lead. `wakeAt` is epoch milliseconds; null waits for a signal. */
export type LaunchReport =
  | { kind: 'wait'; wakeAt: number | null; launched: number; why: string }
  | { kind: 'done'; why: string };

/** Result of a launcher activity: a report, or `more` if the activity reached its limit and leads are still due. */
export type LaunchResult = LaunchReport | { kind: 'more' };

/** Activities that the workflow calls. */
export interface CampaignActivities {
  /** Launches a few leads, which is enough for most campaigns. Variant of {@link runLauncher} with lower limits. */
  beginLauncher(args: CampaignArgs): Promise<LaunchResult>;
  /**
   * Launches due leads and signals enrollment workflows after edits, until nothing is due. Returns the time of the next
   * due lead.
   */
  runLauncher(args: CampaignArgs): Promise<LaunchResult>;
}
