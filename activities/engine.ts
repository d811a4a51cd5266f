import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { callApp } from '../domain/app-connections/call.ts';
import { advanceDirectSend } from '../domain/direct-sends/advance.ts';
import { advanceEnrollment } from '../domain/engine/enrollment/advance.ts';
import { launchTurn, type Turn } from '../domain/engine/enrollment/launch.ts';
import type { Ctx, Deps } from '../domain/kernel/context.ts';
import { deliverSend } from '../domain/engine/sending/deliver.ts';
import type { Metrics } from '../lib/metrics.ts';
import type { SmtpSender } from '../lib/smtp/index.ts';
import type { TargetLimits } from '../lib/target-limits.ts';
import type { CampaignActivities, FirstLook, LaunchReport } from '../workflows/campaign/contract.ts';
import type { DirectSendActivities } from '../workflows/direct-send/contract.ts';
import type { EnrollmentActivities } from '../workflows/enrollment/contract.ts';
import { orBlock } from './blocking.ts';
import { contextOf } from './context.ts';
import { assertNotBusy, notYet } from './not-yet.ts';
import { withPulse } from './pulse.ts';

export interface EngineParts {
  smtp: SmtpSender;
  metrics: Metrics;
  /** Bounds the calls this process has open with customers' apps, by app connection. */
  appCalls: TargetLimits;
  /** Bounds the IMAP connections for copies of sent emails, by host. */
  copies: TargetLimits;
}

/** How long (ms) one launcher activity works while there is work, before it returns. */
const LAUNCHER_TURN_MS = 20_000;
/** Turns of a launcher's first look, and how long (ms) it may have taken for another one to begin. */
const FIRST_LOOK_TURNS = 3;
const FIRST_LOOK_MS = 500;

/** Activities of campaign, enrollment and direct send runs. Each calls one verb and says which errors Temporal retries, and when. */
export function createEngineActivities(
  deps: Deps,
  { smtp, metrics, appCalls, copies }: EngineParts,
): EnrollmentActivities & CampaignActivities & DirectSendActivities {
  const ctxOf = (organizationId: string) => contextOf(deps, organizationId);
  return {
    advanceEnrollment: ({ organizationId, campaignId, contactId }) =>
      orBlock(deps, organizationId, () => advanceEnrollment(ctxOf(organizationId), { campaignId, contactId })),

    advanceDirectSend: ({ organizationId, directSendId }) =>
      orBlock(deps, organizationId, () => advanceDirectSend(ctxOf(organizationId), directSendId)),

    async deliverSend({ organizationId, sendId }) {
      const delivery = await orBlock(deps, organizationId, () =>
        withPulse(() => deliverSend(ctxOf(organizationId), { smtp, copies }, sendId)),
      );
      if ('retryInMs' in delivery) {
        metrics.targetBusy.inc({ resource: 'mail' });
        throw notYet(
          'mail_host_busy',
          'the mail host has as many conversations under way as it may',
          delivery.retryInMs,
        );
      }
      if ('retryAt' in delivery) {
        const delayMs = Math.max(1_000, delivery.retryAt - Date.now());
        throw notYet('send_in_hand', 'another attempt may still be under way', delayMs);
      }
      metrics.sends.inc({ result: delivery.outcome });
      return { outcome: delivery.outcome };
    },

    async callApp({ organizationId, stepRunId }) {
      const result = await orBlock(deps, organizationId, () =>
        withPulse(() => callApp(ctxOf(organizationId), stepRunId, appCalls)),
      );
      assertNotBusy(metrics, result);
      if (result.outcome === 'retry')
        throw ApplicationFailure.create({
          message: result.detail ?? 'the app did not answer',
          type: 'app_action_retry',
        });
      return { outcome: result.outcome };
    },

    beginLauncher: ({ organizationId, campaignId }) => firstLook(ctxOf(organizationId), campaignId),

    runLauncher({ organizationId, campaignId }) {
      const ctx = ctxOf(organizationId);
      return launchWhileDue(() => orBlock(deps, organizationId, () => launchTurn(ctx, campaignId)));
    },
  };
}

/** The first look of a launcher: a few turns, and no wait between them. */
async function firstLook(ctx: Ctx, campaignId: string): Promise<FirstLook> {
  const until = Date.now() + FIRST_LOOK_MS;
  let launched = 0;
  for (let turns = 0; turns < FIRST_LOOK_TURNS && Date.now() < until; turns += 1) {
    const turn = await launchTurn(ctx, campaignId);
    if ('report' in turn) return withLaunched(turn.report, launched);
    launched += turn.launched;
    if (turn.inMs > 0) break;
  }
  return { kind: 'more' };
}

/** Turns of a launcher, with short waits between them, for as long as there is something to do. */
async function launchWhileDue(takeTurn: () => Promise<Turn>): Promise<LaunchReport> {
  const context = Context.current();
  const until = Date.now() + LAUNCHER_TURN_MS;
  let launched = 0;
  for (;;) {
    const turn = await takeTurn();
    if ('report' in turn) return withLaunched(turn.report, launched);
    launched += turn.launched;
    context.heartbeat(launched);
    if (Date.now() >= until) return { kind: 'wait', wakeAt: Date.now() + turn.inMs, launched, why: 'launching leads' };
    await context.sleep(turn.inMs);
  }
}

/** The report of a last turn, with the leads that the turns before it launched. */
function withLaunched(report: LaunchReport, launched: number): LaunchReport {
  return report.kind === 'wait' ? { ...report, launched: launched + report.launched } : report;
}
