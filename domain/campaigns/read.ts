import type { Columns } from '../../db/rows.ts';
import { Campaigns, type CampaignRow } from '../../db/models/campaign.ts';
import { badCursor, pageOf, type Page, type PageRequest } from '../../lib/cursor.ts';
import { isUuid } from '../../lib/ids.ts';
import { likeLiteral } from '../platform/conditions.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader } from '../platform/kernel/transact.ts';
import { findCampaign } from '../sending/campaign/find.ts';
import { PAUSED_STATUSES } from '../sending/control/status.ts';

export { CAMPAIGN_STATUSES } from '../../db/models/campaign.ts';
export type { CampaignRow } from '../../db/models/campaign.ts';

/** Values of the `status` filter (GET /campaigns). `paused` matches every paused status. */
export const STATUS_FILTERS = ['draft', 'active', 'paused', 'completed'] as const;

interface CampaignFilters {
  /** Text that the campaign's name must contain. */
  q?: string | undefined;
  /** Folder id; an unknown one matches no campaign. */
  folder?: string | undefined;
  status?: (typeof STATUS_FILTERS)[number] | undefined;
  kind?: CampaignRow['kind'] | undefined;
  /** If true, only archived campaigns are listed; otherwise only those that are not archived. */
  archived?: boolean | undefined;
}

/**
 * Returns one campaign (GET /campaigns/:id).
 * @throws AppError not_found
 */
export async function getCampaign(ctx: Ctx, id: string): Promise<CampaignRow> {
  return findCampaign(reader(ctx), id);
}

/**
 * Lists campaigns, newest first, with the total of matches (GET /campaigns). The cursor is the id of the last campaign
 * of the previous page.
 * @throws AppError bad_request for a cursor that is not a campaign id
 */
export async function listCampaigns(ctx: Ctx, filters: CampaignFilters, page: PageRequest): Promise<Page<CampaignRow>> {
  if (page.cursor && !isUuid(page.cursor)) throw badCursor();
  const matching = () => {
    const query = reader(ctx)
      .query(Campaigns)
      .where('archived', filters.archived ?? false);
    if (filters.q) void query.where('name', 'ilike', `%${likeLiteral(filters.q)}%`);
    if (filters.folder !== undefined) {
      if (isUuid(filters.folder)) void query.whereRaw('folders @> array[?::uuid]', [filters.folder]);
      else void query.whereRaw('false');
    }
    if (filters.status)
      void query.whereIn('status', filters.status === 'paused' ? [...PAUSED_STATUSES] : [filters.status]);
    if (filters.kind) void query.where('kind', filters.kind);
    return query;
  };
  const rows = matching()
    .orderBy('id', 'desc')
    .limit(page.limit + 1);
  if (page.cursor) void rows.where('id', '<', page.cursor);
  const [fetched, total] = [await rows, await matching().resultSize()];
  return { ...pageOf(fetched, page.limit, (last) => last.id), total };
}

interface CampaignOverview {
  total: number;
  active: number;
  paused: number;
  draft: number;
  completed: number;
  one_time: number;
  archived: number;
  folders: { folder_id: string; total: number }[];
}

/** Counts campaigns by status, archived ones separately (GET /campaigns-overview). */
export async function campaignsOverview(ctx: Ctx): Promise<CampaignOverview> {
  const org = reader(ctx);
  const all = await org.sql<Columns<'campaigns', 'status' | 'kind' | 'archived'> & { total: number }>(
    'select status, kind, archived, count(*)::int as total from campaigns where organization_id = :org group by status, kind, archived',
  );
  const groups = all.filter(({ archived }) => !archived);
  const folders = await org.sql<{ folder_id: string; total: number }>(
    `select folder_id, count(*)::int as total from campaigns, unnest(folders) as folder_id where organization_id = :org and not archived
     group by folder_id order by folder_id`,
  );
  const sum = (counts: (group: (typeof groups)[number]) => boolean) =>
    groups.filter(counts).reduce((total, group) => total + group.total, 0);
  return {
    total: sum(() => true),
    active: sum(({ status }) => status === 'active'),
    // Does not include `paused_undeliverable`, because a person cannot resume a campaign whose leads are all
    // undeliverable.
    paused: sum(
      ({ status }) => status === 'paused' || status === 'paused_no_accounts' || status === 'paused_trial_expired',
    ),
    draft: sum(({ status }) => status === 'draft'),
    completed: sum(({ status }) => status === 'completed'),
    one_time: sum(({ kind }) => kind === 'one_time'),
    archived: all.reduce((total, group) => total + (group.archived ? group.total : 0), 0),
    folders,
  };
}
