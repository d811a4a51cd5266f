import type { Columns } from '../../db/rows.ts';
import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../lib/cursor.ts';
import { findCampaign } from '../sending/campaign/find.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader } from '../platform/kernel/transact.ts';

export type CampaignLogRow = Columns<
  'campaign_logs',
  'id' | 'campaign_id' | 'event_type' | 'message' | 'metadata' | 'created_at'
>;

/**
 * Lists the activity log of a campaign, newest first.
 * @throws AppError not_found, bad_request for an invalid cursor
 */
export async function listLogs(ctx: Ctx, campaignId: string, page: PageRequest): Promise<Page<CampaignLogRow>> {
  const org = reader(ctx);
  const campaign = await findCampaign(org, campaignId);
  const after = decodeIdCursor('campaigns.logs', campaign.id, page.cursor);
  const query = org
    .table('campaign_logs')
    .where({ campaign_id: campaign.id })
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .select('id', 'campaign_id', 'event_type', 'message', 'metadata', 'created_at');
  if (after) void query.where('id', '<', after);
  return pageOf(await query, page.limit, (last) => encodeCursor('campaigns.logs', campaign.id, [last.id]));
}
