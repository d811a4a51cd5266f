import type { CampaignRow } from '../../../db/models/campaign.ts';
import type { JsonObject } from '../../../db/json-columns.ts';
import type { Finding } from '../../../lib/finding.ts';
import { preflightFound } from '../preflight.ts';
import { readCampaignDns, recallCampaignDns, type CampaignDns } from '../preflight-dns.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { undefinedIfGone } from '../gone.ts';

/** What the network was asked before the transaction; undefined for a campaign that is gone. */
export type OutsideFacts = CampaignDns | undefined;

/** What the checks found. */
export interface LaunchCheck {
  passed: boolean;
  /** As the run shows it. */
  report: JsonObject;
  /** The first thing that keeps the campaign from being launched. */
  refusal: Finding | null;
}

/** Asks the network what the checks need of it; called before the transaction opens. */
export function readOutside(ctx: Ctx, campaignId: string): Promise<OutsideFacts> {
  return readCampaignDns(ctx, campaignId, { lately: true }).catch(undefinedIfGone);
}

/** The same without asking the network, where that was asked a moment ago: inside a transaction, of a locked campaign. Undefined where it has to be asked. */
export function cachedOutsideFacts({ dns }: Pick<Ctx, 'dns'>, tx: Tx, campaign: CampaignRow): Promise<OutsideFacts> {
  return recallCampaignDns(tx.org, dns, campaign);
}

/** Checks a locked campaign before its launch and stores the report, in the caller's transaction. */
export async function checkLaunch(tx: Tx, campaign: CampaignRow, outside: CampaignDns): Promise<LaunchCheck> {
  const { id, passed, score, checks, findings } = await preflightFound(tx, campaign, outside);
  const error = findings.find(({ severity }) => severity === 'error');
  return {
    passed,
    report: { id, passed, score, checks, findings },
    refusal: error ?? null,
  };
}
