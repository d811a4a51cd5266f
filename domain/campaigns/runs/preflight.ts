import type { CampaignRow } from '../../../db/models/campaign.ts';
import { lockCampaign } from '../../sending/control/status.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { authorizeCampaign } from '../../approvals/authorize.ts';
import { denyOverdueRuns, expireRun, hasExpired, holdRun } from './approval.ts';
import { countRecipients, type Recipients } from './audience.ts';
import { checkLaunch, readDns, type LaunchCheck } from './checks.ts';
import { cachedCampaignDns, type CampaignDns } from '../preflight-dns.ts';
import { denyRun, failChecks, failDeletedCampaign } from './end.ts';
import { undefinedIfGone } from '../gone.ts';
import { activate } from './launch-approval.ts';
import { lockRun, moveRun } from './move.ts';
import { requesterOf, refusedRequester } from './requester.ts';
import type { RunRow } from './states.ts';

/**
 * Maximum number of recipients of a run that is checked in the transaction that begins it, because the checks read all
 * recipients.
 */
const FEW_RECIPIENTS = 1_000;

/**
 * Advances a run that is queued or waits for approval. A queued run begins. If it has few recipients and DNS answers
 * about its senders are cached, it is checked in the same transaction. Therefore a series of runs needs few DNS
 * queries. Otherwise, or if the check fails with an error, the caller calls {@link preflightRun} next. A run that waits
 * for approval is denied once it expires, together with other overdue runs of the workspace.
 * @returns the updated run, in any state
 */
export async function advanceRun(ctx: Ctx, runId: string): Promise<RunRow> {
  const run = await advance(ctx, runId, checkFromCache).catch((error: unknown) => {
    // Begins the run without the checks. If the error persists, it also occurs in `preflightRun`, which then marks the
    // run as blocked.
    ctx.log.warn({ err: error, runId }, 'a run could not be moved on with its checks; they come next');
    return advance(ctx, runId, async (_ctx, _tx, begun) => begun);
  });
  if (hasExpired(run)) await denyOverdueRuns(ctx);
  return run;
}

/** Begins a queued run and calls `next` in the same transaction; denies a waiting run that has expired. */
async function advance(
  ctx: Ctx,
  runId: string,
  next: (ctx: Ctx, tx: Tx, run: RunRow) => Promise<RunRow>,
): Promise<RunRow> {
  return transact(ctx, async (tx) => {
    const run = await lockRun(tx, runId);
    if (run.state === 'awaiting_approval') return expireRun(tx, run);
    if (run.state !== 'queued') return run;
    return next(ctx, tx, (await moveRun(tx, run.id, ['queued'], 'preflighting'))!);
  });
}

/** Checks a run that has begun, if no network query is needed. */
async function checkFromCache(ctx: Ctx, tx: Tx, run: RunRow): Promise<RunRow> {
  if (run.recipient_count > FEW_RECIPIENTS) return run;
  const campaign = await lockCampaign(tx, run.campaign_id).catch(undefinedIfGone);
  const dns = campaign && (await cachedCampaignDns(tx.org, ctx.dns, campaign));
  return campaign && dns ? checkAndAdvance(ctx, tx, run, campaign, dns) : run;
}

/**
 * Checks the campaign of a run and decides how the run continues. A run that fails the checks ends as failed, with the
 * findings. A draft that passes is completed. If the policy of the API key or application allows the launch, it happens
 * in the same transaction, so that exactly the counted recipients are launched. Any other launch waits for a person.
 * @returns the updated run; unchanged unless it is queued or preflighting
 */
export async function preflightRun(ctx: Ctx, runId: string): Promise<RunRow> {
  const begun = await advanceRun(ctx, runId);
  if (begun.state !== 'preflighting') return begun;
  const dns = await readDns(ctx, begun.campaign_id);
  return transact(ctx, async (tx) => {
    const run = await lockRun(tx, runId);
    if (run.state !== 'preflighting') return run;
    const campaign = await lockCampaign(tx, run.campaign_id).catch(undefinedIfGone);
    return campaign && dns ? checkAndAdvance(ctx, tx, run, campaign, dns) : failDeletedCampaign(tx, run);
  });
}

/**
 * Checks a locked run and its locked campaign, and moves the run to its next state: failed, completed, denied,
 * awaiting_approval or active.
 * @returns the updated run
 */
export async function checkAndAdvance(
  ctx: Ctx,
  tx: Tx,
  run: RunRow,
  campaign: CampaignRow,
  dns: CampaignDns,
): Promise<RunRow> {
  const checked = await checkLaunch(tx, campaign, dns);
  const recipients = await countRecipients(tx.org, campaign.id);
  if (!checked.passed) return failChecks(tx, run, checked, recipients);
  if (run.intent === 'draft') return complete(tx, run, checked, recipients);
  const refused = await refusedRequester(tx, run);
  if (refused) return denyRun(tx, run, refused);
  const reached = recipients.count + campaign.cc.length + campaign.bcc.length;
  const authorization = await authorizeCampaign(tx, requesterOf(run), campaign, reached);
  if (authorization.decision === 'awaiting_approval')
    return holdRun(ctx.config, tx, run, campaign, { checked, recipients, reasons: authorization.reasons });
  return launchAtOnce(tx, run, campaign, checked, recipients);
}

async function complete(tx: Tx, run: RunRow, checked: LaunchCheck, recipients: Recipients): Promise<RunRow> {
  const policyDecision = { decision: 'not_needed' };
  const change = { reason: 'draft_ready', preflightReport: checked.report, recipients, policyDecision };
  return (await moveRun(tx, run.id, ['preflighting'], 'completed', change))!;
}

/**
 * Launches a run in the transaction that has checked it and counted its recipients, so that no limit is exceeded and no
 * edit happens in between.
 */
async function launchAtOnce(
  tx: Tx,
  run: RunRow,
  campaign: CampaignRow,
  checked: LaunchCheck,
  recipients: Recipients,
): Promise<RunRow> {
  const change = { preflightReport: checked.report, recipients, policyDecision: { decision: 'execute' } };
  await moveRun(tx, run.id, ['preflighting'], 'launching', { reason: 'policy_allows', ...change });
  return activate(tx, run, campaign, recipients);
}
