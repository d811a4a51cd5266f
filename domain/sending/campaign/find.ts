import { Campaigns, type CampaignRow } from '../../../db/models/campaign.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';

/**
 * Returns a campaign of the organization.
 * @throws AppError not_found
 */
export async function findCampaign(org: OrgScope, id: string): Promise<CampaignRow> {
  const campaign = isUuid(id) ? await org.query(Campaigns).findById(id) : undefined;
  if (!campaign) throw notFound('campaign');
  return campaign;
}
