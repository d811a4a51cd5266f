import { defineWorkflow, type ArgsOf } from '../contract.ts';

/** Sent by earlier releases, without a payload: "look again". */
export const NUDGE = 'nudge';

/** Signals of a launcher. They are hints: what counts is in PostgreSQL. */
export type CampaignSignals = {
  /** Something the launcher decides by has changed. `epoch` is the campaign's control epoch, where that moved. */
  control: { cause: LauncherCause; epoch: number | null };
  /** An operator or the sweep retries a launcher that kept failing. */
  retry: { cause: 'operator' | 'sweep' };
};

/** Why a launcher is to look again. */
export type LauncherCause =
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
});

/** Arguments of a campaign's launcher. */
export type CampaignArgs = ArgsOf<typeof campaignWorkflow>;

/** What the launcher found. `wakeAt` is epoch milliseconds; null waits for a signal. */
export type LaunchReport =
  | { kind: 'wait'; wakeAt: number | null; launched: number; why: string }
  | { kind: 'done'; why: string };

/** Activities of this family, as the workflow sees them. */
export interface CampaignActivities {
  /** Launches due leads and signals runs after edits, for as long as there is something to do now. */
  runLauncher(args: CampaignArgs): Promise<LaunchReport>;
}
