import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, withSavepoint } from '../../platform/kernel/transact.ts';
import { lockCampaign } from '../../sending/control/status.ts';
import { readPlannedDns, type CampaignDns } from '../preflight-dns.ts';
import { createRun } from './create.ts';
import type { CreateRun } from './input.ts';
import { moveRun } from './move.ts';
import { readPlan } from './plan.ts';
import { checkAndAdvance } from './preflight.ts';
import type { RunRow } from './states.ts';

/** Thrown to roll back the transaction of a dry run. */
class RolledBack extends Error {}

/**
 * Reads the DNS records for the checks of a dry run. Call it before the transaction opens.
 * @throws AppError forbidden when the caller's key may not use a named mailbox
 */
export async function readDryRunDns(ctx: Ctx, input: CreateRun): Promise<CampaignDns> {
  const { senderIds, campaign } = await readPlan(ctx, input);
  return readPlannedDns(ctx, senderIds, campaign?.tracking_domain ?? '');
}

/**
 * Creates and checks a run and decides about its launch, as {@link createRun} and its workflow would. Then rolls back
 * all changes: rows, events, audit rows, counts of the policy and workflow intents.
 * @returns the run as it would be after its checks: completed, failed, denied, awaiting_approval or active
 * @throws AppError as in {@link createRun}
 */
export async function dryRun(ctx: Ctx, input: CreateRun, dns: CampaignDns): Promise<RunRow> {
  return transact(ctx, async (tx) => {
    let decided: RunRow | undefined;
    try {
      await withSavepoint(tx, async () => {
        const inside: Ctx = { ...ctx, trx: tx.trx, joined: tx };
        const run = await createRun(inside, input);
        const campaign = await lockCampaign(tx, run.campaign_id);
        const begun = (await moveRun(tx, run.id, ['queued'], 'preflighting'))!;
        decided = await checkAndAdvance(inside, tx, begun, campaign, dns);
        throw new RolledBack();
      });
    } catch (error) {
      if (!(error instanceof RolledBack)) throw error;
    }
    return decided!;
  });
}
