import { Context } from '@temporalio/activity';
import { campaignStart } from '../domain/campaigns/start-approval.ts';
import { logCampaign } from '../domain/sending/campaign/log.ts';
import { launchDueLeads, type LaunchIteration } from '../domain/sending/enrollment/launch.ts';
import type { Ctx } from '../domain/platform/kernel/context.ts';
import {
  campaignWorkflow,
  type CampaignActivities,
  type LaunchReport,
  type LaunchResult,
} from '../workflows/campaign/contract.ts';
import { runOrBlock } from './blocking.ts';
import { contextOf } from './context.ts';
import { family, type ActivityParts } from './family.ts';
import { message } from '../messages/index.ts';

/** Maximum duration (ms) of one launcher activity while leads are due. */
const LAUNCHER_ITERATION_MS = 20_000;
/**
 * Limits of a launcher's first attempt: number of iterations, and time (ms) after which no further iteration starts.
 */
const FIRST_ITERATIONS = 3;
const FIRST_LAUNCH_MS = 500;

/** Workflow and activities for campaign launchers. */
export const campaign = family<CampaignActivities>({
  contract: campaignWorkflow,
  queue: { beginLauncher: 'workflows', runLauncher: 'batch' },
  activities,
  // An idle campaign needs no open launcher, because the next lead that is added signals it.
  mustBeOpen: { table: 'campaigns', open: `campaigns.status = 'active' and campaigns.idle_since is null` },
  blocked: {
    taskType: 'campaign_launch',
    open: 'true',
    andThen: (tx, campaignId, reason) =>
      logCampaign(tx, campaignId, 'run_blocked', message('log.launcher_blocked', { reason })),
  },
  approval: campaignStart,
});

function activities({ deps }: ActivityParts): CampaignActivities {
  return {
    beginLauncher: ({ organizationId, campaignId }) => launchFirst(contextOf(deps, organizationId), campaignId),

    runLauncher({ organizationId, campaignId }) {
      const ctx = contextOf(deps, organizationId);
      const context = Context.current();
      const until = performance.now() + LAUNCHER_ITERATION_MS;
      const takeTurn = () => runOrBlock(deps, organizationId, () => launchDueLeads(ctx, campaignId));
      return launchWhileDue(takeTurn, () => {
        context.heartbeat();
        return performance.now() < until;
      });
    },
  };
}

/** Runs the first iterations of a launcher, within the limits of the first attempt. */
async function launchFirst(ctx: Ctx, campaignId: string): Promise<LaunchResult> {
  const until = performance.now() + FIRST_LAUNCH_MS;
  let turns = 0;
  const hasTime = () => (turns += 1) < FIRST_ITERATIONS && performance.now() < until;
  return launchWhileDue(() => launchDueLeads(ctx, campaignId), hasTime);
}

/** Repeats launcher iterations while leads are due and `hasTime` returns true. */
async function launchWhileDue(takeTurn: () => Promise<LaunchIteration>, hasTime: () => boolean): Promise<LaunchResult> {
  let launched = 0;
  for (;;) {
    const turn = await takeTurn();
    if ('report' in turn) return withLaunched(turn.report, launched);
    launched += turn.launched;
    if (!hasTime()) return { kind: 'more' };
  }
}

/** Adds the number of leads launched by earlier iterations to the report of the last one. */
function withLaunched(report: LaunchReport, launched: number): LaunchReport {
  return report.kind === 'wait' ? { ...report, launched: launched + report.launched } : report;
}
