import type { Columns } from '../../../db/rows.ts';
import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../../lib/cursor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';

const LIST = 'webhooks.throttle-drops';

/**
 * Events of one type that one endpoint did not receive in one minute, because of its own rate or the workspace's rate
 * for the event type.
 */
export type ThrottleDrop = Columns<
  'webhook_throttle_drops',
  'id' | 'endpoint_id' | 'event_type' | 'reason' | 'minute' | 'dropped' | 'last_event_id'
>;

/**
 * Lists the events that rate limits of the workspace's own endpoints dropped, newest first (GET
 * /webhooks/throttle-drops).
 * @throws AppError bad_request for a cursor of another list
 */
export async function listThrottleDrops(ctx: Ctx, page: PageRequest): Promise<Page<ThrottleDrop>> {
  const after = decodeIdCursor(LIST, null, page.cursor);
  const rows = await reader(ctx).sql<ThrottleDrop>(
    `select d.id, d.endpoint_id, d.event_type, d.reason, d.minute, d.dropped, d.last_event_id
     from webhook_throttle_drops d join webhook_endpoints e on e.id = d.endpoint_id
     where d.organization_id = :org and e.application_id is null and (:after::uuid is null or d.id < :after)
     order by d.id desc nulls last limit :limit`,
    { after: after ?? null, limit: page.limit + 1 },
  );
  return pageOf(rows, page.limit, (last) => encodeCursor(LIST, null, [last.id]));
}
