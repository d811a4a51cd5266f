import { defineWorkflow, type ArgsOf } from '../contract.ts';

/** Signals of a launcher. They are hints: the state is in PostgreSQL. */
export type CampaignSignals = {
  /** Something that the launcher's decisions depend on has changed. `epoch` is the campaign's control epoch, if that changed. */
  control: { cause: LauncherCause; epoch: number | null };
  /** An operator or the sweep retries a launcher that kept failing. */
  retry: { cause: 'operator' | 'sweep' };
};

/** Why a launcher is signalled. */
type LauncherCause =
  | 'started'
  | 'paused'
  | 'edited'
  | 'leads_added'
  | 'lead_released'
  | 'lead_removed'
  | 'pool'
  | 'emptied';

/** The launcher of one campaign: enrolls due leads as capacity allows, signals runs after edits, notices completion. */
export const campaignWorkflow = defineWorkflow<CampaignSignals>()({
  type: 'campaign',
  kind: 'campaign',
  parts: ['campaignId'],
  summary: ({ campaignId }) => `Launcher of campaign ${campaignId}`,
  cancel: 'Ends this run; maintenance opens another one. Pause the campaign to stop its launches.',
});

/** Arguments of a campaign's launcher. */
export type CampaignArgs = ArgsOf<typeof campaignWorkflow>;

/** What the launcher found. `wakeAt` is epoch milliseconds; null waits for a signal. */
export type LaunchReport =
  | { kind: 'wait'; wakeAt: number | null; launched: number; why: string }
  | { kind: 'done'; why: string };

/** What the first look of a launcher found: all that is to be done now is done, or there is more than a look may take. */
export type FirstLook = LaunchReport | { kind: 'more' };

/** Activities of this family, as the workflow sees them. */
export interface CampaignActivities {
  /** {@link runLauncher} for a moment: launches a few leads, and never waits. Most campaigns of a run have no more to launch. */
  beginLauncher(args: CampaignArgs): Promise<FirstLook>;
  /** Launches due leads and signals runs after edits, as long as there is something to do now. */
  runLauncher(args: CampaignArgs): Promise<LaunchReport>;
}
