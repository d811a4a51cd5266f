import type { CampaignRow } from '../../../db/models/campaign.ts';
import type { JsonObject } from '../../../db/json-columns.ts';
import type { Finding } from '../../../lib/finding.ts';
import { preflightLoaded } from '../preflight.ts';
import { readCampaignDns, type CampaignDns } from '../preflight-dns.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { undefinedIfGone } from '../gone.ts';

/** Result of the launch checks for the campaign of an agent run. */
export interface LaunchCheck {
  passed: boolean;
  /** Report as the run's API response contains it. */
  report: JsonObject;
  /** The first finding that prevents the launch. */
  refusal: Finding | null;
}

/**
 * Reads the DNS records that the checks need. Call it before their transaction opens. Returns undefined if the campaign
 * was deleted.
 */
export function readDns(ctx: Ctx, campaignId: string): Promise<CampaignDns | undefined> {
  return readCampaignDns(ctx, campaignId, { lately: true }).catch(undefinedIfGone);
}

/** Checks a locked campaign before its launch and stores the report, in the caller's transaction. */
export async function checkLaunch(tx: Tx, campaign: CampaignRow, dns: CampaignDns): Promise<LaunchCheck> {
  const { id, passed, score, checks, findings } = await preflightLoaded(tx, campaign, dns);
  const error = findings.find(({ severity }) => severity === 'error');
  return {
    passed,
    report: { id, passed, score, checks, findings },
    refusal: error ?? null,
  };
}
