import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../lib/cursor.ts';
import type { Ctx } from '../kernel/context.ts';
import { reader } from '../kernel/transact.ts';

const LIST = 'webhooks.throttle-drops';

const COLUMNS = ['id', 'endpoint_id', 'event_type', 'reason', 'minute', 'dropped', 'last_event_id'].map(
  (column) => `webhook_throttle_drops.${column}`,
);

/** Events of one type that one endpoint did not get in one minute. */
export interface ThrottleDrop {
  id: string;
  endpoint_id: string;
  event_type: string;
  /** The endpoint's own rate, or the workspace's rate for the event type. */
  reason: 'endpoint_rate' | 'event_type_rate';
  minute: Date;
  dropped: number;
  last_event_id: string;
}

/**
 * What rates kept from the workspace's own endpoints, newest first (contract 1, GET /webhooks/throttle-drops).
 * @throws AppError bad_request for a cursor of another list
 */
export async function listThrottleDrops(ctx: Ctx, page: PageRequest): Promise<Page<ThrottleDrop>> {
  const after = decodeIdCursor(LIST, null, page.cursor);
  const query = reader(ctx)
    .table('webhook_throttle_drops')
    .join('webhook_endpoints as e', 'e.id', 'webhook_throttle_drops.endpoint_id')
    .whereNull('e.application_id');
  if (after) void query.where('webhook_throttle_drops.id', '<', after);
  const rows = (await query
    .orderByRaw('webhook_throttle_drops.id desc nulls last')
    .limit(page.limit + 1)
    .select(COLUMNS)) as ThrottleDrop[];
  return pageOf(rows, page.limit, (last) => encodeCursor(LIST, null, [last.id]));
}
