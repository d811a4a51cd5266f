import type { CampaignRow } from '../../../db/models/campaign.ts';
import type { JsonObject } from '../../../db/json-columns.ts';
import type { Finding } from '../../../lib/finding.ts';
import { preflightLoaded } from '../preflight.ts';
import { readCampaignDns, cachedCampaignDns, type CampaignDns } from '../preflight-dns.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { undefinedIfGone } from '../gone.ts';

/** Network data for the checks, read before the transaction; undefined if the campaign was deleted. */
export type NetworkFacts = CampaignDns | undefined;

/** Result of the launch checks of a run's campaign. */
export interface LaunchCheck {
  passed: boolean;
  /** Report in the form that the run shows. */
  report: JsonObject;
  /** The first finding that prevents the launch. */
  refusal: Finding | null;
}

/** Reads the network data for the checks. Call before the transaction opens. */
export function readNetworkFacts(ctx: Ctx, campaignId: string): Promise<NetworkFacts> {
  return readCampaignDns(ctx, campaignId, { lately: true }).catch(undefinedIfGone);
}

/**
 * Variant of {@link readNetworkFacts} for a locked campaign inside a transaction: uses recent answers only. Undefined if a
 * query is needed.
 */
export function cachedNetworkFacts({ dns }: Pick<Ctx, 'dns'>, tx: Tx, campaign: CampaignRow): Promise<NetworkFacts> {
  return cachedCampaignDns(tx.org, dns, campaign);
}

/** Checks a locked campaign before its launch and stores the report, in the caller's transaction. */
export async function checkLaunch(tx: Tx, campaign: CampaignRow, outside: CampaignDns): Promise<LaunchCheck> {
  const { id, passed, score, checks, findings } = await preflightLoaded(tx, campaign, outside);
  const error = findings.find(({ severity }) => severity === 'error');
  return {
    passed,
    report: { id, passed, score, checks, findings },
    refusal: error ?? null,
  };
}
