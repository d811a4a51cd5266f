import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../../lib/cursor.ts';
import { notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import type { RunEventRow, RunRow, RunState } from './states.ts';

/**
 * Maximum number of events shown with a run. If there are more, the newest are shown. Only a campaign that is paused
 * and started very often has more events.
 */
const MAX_EVENTS = 1_000;

/** A run with its events, oldest first. */
interface RunDetail {
  run: RunRow;
  events: RunEventRow[];
}

/**
 * Returns one run with its events (GET /runs/:id).
 * @throws AppError not_found
 */
export async function getRun(ctx: Ctx, id: string): Promise<RunDetail> {
  if (!isUuid(id)) throw notFound('run');
  const org = reader(ctx);
  const run = await org.table('runs').where({ id }).first();
  if (!run) throw notFound('run');
  const events = await org
    .table('run_events')
    .where({ run_id: run.id })
    .orderBy('seq', 'desc')
    .limit(MAX_EVENTS)
    .select('seq', 'type', 'state', 'previous_state', 'data', 'actor_kind', 'user_id', 'created_at');
  return { run, events: events.reverse() };
}

/**
 * Lists runs, newest first (GET /runs). Omits the steps of the input, which can be large; {@link getRun} returns them.
 * @throws AppError bad_request for the cursor of another list
 */
export async function listRuns(
  ctx: Ctx,
  filters: { state?: RunState | undefined; campaignId?: string | undefined },
  page: PageRequest,
): Promise<Page<RunRow>> {
  const bound = [filters.state ?? null, filters.campaignId ?? null];
  const after = decodeIdCursor('runs', bound, page.cursor);
  if (filters.campaignId !== undefined && !isUuid(filters.campaignId)) return { rows: [], nextCursor: null };
  const rows = await reader(ctx).sql<RunRow>(
    `select r.*, r.input - 'steps' as input from runs r
     where r.organization_id = :org and (cast(:state as text) is null or r.state = :state)
       and (cast(:campaign as uuid) is null or r.campaign_id = :campaign)
       and (cast(:after as uuid) is null or r.id < :after)
     order by r.id desc limit :limit`,
    {
      state: filters.state ?? null,
      campaign: filters.campaignId ?? null,
      after: after ?? null,
      limit: page.limit + 1,
    },
  );
  return pageOf(rows, page.limit, (last) => encodeCursor('runs', bound, [last.id]));
}
