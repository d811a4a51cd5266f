import { Resolver } from 'node:dns/promises';
import { AppError } from '../../lib/errors.ts';
import type { Ctx } from '../kernel/context.ts';
import { reader, transact } from '../kernel/transact.ts';
import { logCampaign } from '../engine/campaign/log.ts';
import type { CampaignRow } from '../../db/models/campaign.ts';
import { findCampaign } from '../engine/campaign/find.ts';
import { lockCampaign } from '../engine/control/status.ts';

/** The names a host's CNAME record points at; empty when it has none. */
export type CnameLookup = (host: string) => Promise<readonly string[]>;

const DNS_TIMEOUT_MS = 2500;

/** Asks the system's name servers. Any failure counts as "no record": in both cases the caller must check their DNS. */
export const lookupCname: CnameLookup = async (host) => {
  try {
    return await new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 2 }).resolveCname(host);
  } catch {
    return [];
  }
};

/**
 * Checks that the campaign's tracking domain is a CNAME of this installation's tracking host. When it is not, its
 * verification is removed at once, in a transaction of its own. It calls DNS, so it runs before the request's transaction.
 * @returns the domain that was checked
 * @throws AppError not_found; bad_request when no domain is set or it points elsewhere
 */
export async function checkTrackingDomain(ctx: Ctx, campaignId: string, lookup: CnameLookup): Promise<string> {
  const campaign = await findCampaign(reader(ctx), campaignId);
  const domain = campaign.tracking_domain;
  if (!domain) {
    throw new AppError('bad_request', 'The campaign has no tracking domain', {
      fix: 'Set tracking_domain with PATCH /v1/campaigns/:id.',
    });
  }
  const target = canonical(new URL(ctx.config.TRACKING_DOMAIN).hostname);
  const names = await lookup(domain);
  if (names.some((name) => canonical(name) === target)) return domain;
  await transact(ctx, async (tx) => {
    await tx.org
      .table('campaigns')
      .where({ id: campaign.id, tracking_domain: domain })
      .update({ tracking_domain_verified: false, tracking_domain_verified_at: null, updated_at: tx.now });
  });
  throw new AppError('bad_request', 'The tracking domain does not point to this installation', {
    fix: `Create a CNAME record ${domain} -> ${target}.`,
  });
}

/**
 * Marks a checked tracking domain as verified; links of later emails use it.
 * @throws AppError not_found; conflict when the domain was changed since the check
 */
export async function markTrackingDomain(ctx: Ctx, campaignId: string, domain: string): Promise<CampaignRow> {
  return transact(ctx, async (tx) => {
    const campaign = await lockCampaign(tx, campaignId);
    if (campaign.tracking_domain !== domain)
      throw new AppError('conflict', 'The tracking domain was changed meanwhile; verify again');
    await tx.org
      .table('campaigns')
      .where({ id: campaign.id })
      .update({ tracking_domain_verified: true, tracking_domain_verified_at: tx.now, updated_at: tx.now });
    await logCampaign(tx, campaign.id, 'tracking_domain_verified', 'The tracking domain was verified', { domain });
    tx.audit({
      action: 'verify',
      entityType: 'campaign',
      entityId: campaign.id,
      metadata: { tracking_domain: domain },
    });
    return findCampaign(tx.org, campaign.id);
  });
}

function canonical(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}
