import { Context } from '@temporalio/activity';
import { campaignStart } from '../domain/campaigns/start-approval.ts';
import { logCampaign } from '../domain/sending/campaign/log.ts';
import { launchTurn, type Turn } from '../domain/sending/enrollment/launch.ts';
import type { Ctx } from '../domain/platform/kernel/context.ts';
import type { Clock } from '../lib/clock.ts';
import {
  campaignWorkflow,
  type CampaignActivities,
  type FirstLook,
  type LaunchReport,
} from '../workflows/campaign/contract.ts';
import { orBlock } from './blocking.ts';
import { contextOf } from './context.ts';
import { family, type ActivityParts } from './family.ts';
import { message } from '../messages/index.ts';

/** How long (ms) one launcher activity works while there is work, before it returns. */
const LAUNCHER_TURN_MS = 20_000;
/** Turns of a launcher's first look, and how long (ms) it may have taken for another one to begin. */
const FIRST_LOOK_TURNS = 3;
const FIRST_LOOK_MS = 500;

/** Launchers of campaigns. */
export const campaign = family<CampaignActivities>({
  contract: campaignWorkflow,
  queue: { beginLauncher: 'workflows', runLauncher: 'batch' },
  activities,
  // A campaign that is idle waits for a lead, which signals its launcher; one that is not active may still have runs to signal.
  mustBeOpen: {
    table: 'campaigns',
    open: `campaigns.status = 'active' and campaigns.idle_since is null
       or exists (
         select 1 from enrollments e
         where e.campaign_id = campaigns.id and e.state = 'active' and e.signalled_epoch < campaigns.control_epoch)`,
  },
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
    beginLauncher: ({ organizationId, campaignId }) => firstLook(contextOf(deps, organizationId), campaignId),

    runLauncher({ organizationId, campaignId }) {
      const ctx = contextOf(deps, organizationId);
      return launchWhileDue(deps.clock, () => orBlock(deps, organizationId, () => launchTurn(ctx, campaignId)));
    },
  };
}

/** The first look of a launcher: a few turns, and no wait between them. */
async function firstLook(ctx: Ctx, campaignId: string): Promise<FirstLook> {
  const until = performance.now() + FIRST_LOOK_MS;
  let launched = 0;
  for (let turns = 0; turns < FIRST_LOOK_TURNS && performance.now() < until; turns += 1) {
    const turn = await launchTurn(ctx, campaignId);
    if ('report' in turn) return withLaunched(turn.report, launched);
    launched += turn.launched;
    if (turn.inMs > 0) break;
  }
  return { kind: 'more' };
}

/** Turns of a launcher, with short waits between them, for as long as there is something to do. */
async function launchWhileDue(clock: Clock, takeTurn: () => Promise<Turn>): Promise<LaunchReport> {
  const context = Context.current();
  const until = performance.now() + LAUNCHER_TURN_MS;
  let launched = 0;
  for (;;) {
    const turn = await takeTurn();
    if ('report' in turn) return withLaunched(turn.report, launched);
    launched += turn.launched;
    context.heartbeat(launched);
    if (performance.now() >= until)
      return { kind: 'wait', wakeAt: clock.now().getTime() + turn.inMs, launched, why: 'launching leads' };
    await context.sleep(turn.inMs);
  }
}

/** The report of a last turn, with the leads that the turns before it launched. */
function withLaunched(report: LaunchReport, launched: number): LaunchReport {
  return report.kind === 'wait' ? { ...report, launched: launched + report.launched } : report;
}
