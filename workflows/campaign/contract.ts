import type { WorkflowContract } from '../contract.ts';

/** Arguments of a campaign's launcher: ids only. */
export interface CampaignArgs {
  organizationId: string;
  campaignId: string;
}

/** "Look again": leads were added, the campaign was started, paused, edited or emptied. */
export const NUDGE = 'nudge';

/** The launcher of one campaign: enrolls due leads as capacity allows, tells runs of edits, notices completion. */
export const campaignWorkflow: WorkflowContract<CampaignArgs> = {
  type: 'campaign',
  kind: 'campaign',
  id: ({ campaignId }) => `campaign/${campaignId}`,
  summary: ({ campaignId }) => `Launcher of campaign ${campaignId}`,
  searchAttributes: ({ organizationId, campaignId }) => ({ OrganizationId: organizationId, CampaignId: campaignId }),
};

/** What the launcher found. `wakeAt` is epoch milliseconds; null waits for a signal. */
export type LaunchReport =
  | { kind: 'wait'; wakeAt: number | null; launched: number; why: string }
  | { kind: 'done'; why: string };

/** Activities of this family, as the workflow sees them. */
export interface CampaignActivities {
  /** Launches due leads and tells runs of edits, for as long as there is something to do now. */
  runLauncher(args: CampaignArgs): Promise<LaunchReport>;
}
