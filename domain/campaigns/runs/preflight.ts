import type { CampaignRow } from '../../../db/models/campaign.ts';
import { lockCampaign } from '../../sending/control/status.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { authorizeLaunch } from '../start.ts';
import { denyOverdueRuns, expireRun, hasExpired, holdRun } from './approval.ts';
import { countRecipients, type Recipients } from './audience.ts';
import { checkLaunch, readOutside, cachedOutsideFacts, type LaunchCheck, type OutsideFacts } from './checks.ts';
import { deny, failChecks, failGone } from './end.ts';
import { undefinedIfGone } from '../gone.ts';
import { activate } from './launch-approval.ts';
import { lockRun, moveRun } from './move.ts';
import { requesterOf, refusedRequester } from './requester.ts';
import type { RunRow } from './states.ts';

/** Recipients up to which a run is checked as it begins: the checks read all of them. */
const FEW_RECIPIENTS = 1_000;

/**
 * Moves a run on that is queued or waits for a person. A queued one begins: where it has few recipients and DNS told this process about its senders a
 * moment ago, its checks and what follows from them are of the same transaction, as {@link preflightRun} has them: of many runs one after the other, few
 * have to ask the network. Otherwise, and when that fails, its checks come next. One that waits is denied when its time has passed; with it, other runs of
 * the workspace that nobody decided on in time are denied.
 * @returns the run as it is now, in whatever state
 */
export async function advanceRun(ctx: Ctx, runId: string): Promise<RunRow> {
  const run = await advance(ctx, runId, judgeAtOnce).catch((error: unknown) => {
    // What fails in the checks fails in preflightRun again, which blocks the run where that can be seen.
    ctx.log.warn({ err: error, runId }, 'a run could not be moved on with its checks; they come next');
    return advance(ctx, runId, async (_ctx, _tx, begun) => begun);
  });
  if (hasExpired(run)) await denyOverdueRuns(ctx);
  return run;
}

/** Moves a run on, and does what comes after the beginning of a queued one in the same transaction. */
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

/** Checks a run that has begun, where the network need not be asked. */
async function judgeAtOnce(ctx: Ctx, tx: Tx, run: RunRow): Promise<RunRow> {
  if (run.recipient_count > FEW_RECIPIENTS) return run;
  const campaign = await lockCampaign(tx, run.campaign_id).catch(undefinedIfGone);
  const outside = campaign && (await cachedOutsideFacts(ctx, tx, campaign));
  return campaign && outside ? judge(ctx, tx, run, campaign, outside) : run;
}

/**
 * Checks the campaign of a run and decides what follows: a run that fails the checks has failed, with what was found; a draft
 * that passes is completed; a launch that the policy of its credential allows is launched in the same transaction, so that
 * what was counted is what is launched; any other launch waits for a person.
 * @returns the run as it is now; another state than queued or preflighting is left alone
 */
export async function preflightRun(ctx: Ctx, runId: string): Promise<RunRow> {
  const begun = await advanceRun(ctx, runId);
  if (begun.state !== 'preflighting') return begun;
  const outside = await readOutside(ctx, begun.campaign_id);
  return transact(ctx, async (tx) => {
    const run = await lockRun(tx, runId);
    if (run.state !== 'preflighting') return run;
    const campaign = await lockCampaign(tx, run.campaign_id).catch(undefinedIfGone);
    return campaign && outside ? judge(ctx, tx, run, campaign, outside) : failGone(tx, run);
  });
}

async function judge(
  ctx: Ctx,
  tx: Tx,
  run: RunRow,
  campaign: CampaignRow,
  outside: NonNullable<OutsideFacts>,
): Promise<RunRow> {
  const checked = await checkLaunch(tx, campaign, outside);
  const recipients = await countRecipients(tx.org, campaign.id);
  if (!checked.passed) return failChecks(tx, run, checked, recipients);
  if (run.intent === 'draft') return complete(tx, run, checked, recipients);
  const refused = await refusedRequester(tx, run);
  if (refused) return deny(tx, run, refused);
  const authorization = await authorizeLaunch(tx, requesterOf(run), campaign, recipients.count);
  if (authorization.decision === 'awaiting_approval')
    return holdRun(ctx.config, tx, run, campaign, { checked, recipients, reasons: authorization.reasons });
  return launchAtOnce(tx, run, campaign, checked, recipients);
}

async function complete(tx: Tx, run: RunRow, checked: LaunchCheck, recipients: Recipients): Promise<RunRow> {
  const policyDecision = { decision: 'not_needed' };
  const change = { reason: 'draft_ready', preflightReport: checked.report, recipients, policyDecision };
  return (await moveRun(tx, run.id, ['preflighting'], 'completed', change))!;
}

/** Launches in the transaction that has checked and counted: a limit cannot be passed, nor an edit slip in, between the two. */
async function launchAtOnce(
  tx: Tx,
  run: RunRow,
  campaign: CampaignRow,
  checked: LaunchCheck,
  recipients: Recipients,
): Promise<RunRow> {
  const change = { preflightReport: checked.report, recipients, policyDecision: { decision: 'execute' } };
  await moveRun(tx, run.id, ['preflighting'], 'launching', { reason: 'policy_allows', ...change });
  return activate(tx, run, campaign);
}
