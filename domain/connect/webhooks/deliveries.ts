import type { Columns, Row } from '../../../db/rows.ts';
import type { TableQuery } from '../../../db/table-query.ts';
import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../../lib/cursor.ts';
import { notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { getEndpoint } from './endpoints.ts';
import type { Envelope } from '../delivery/request.ts';

export const DELIVERY_STATUSES = ['pending', 'in_flight', 'delivered', 'failed', 'abandoned'] as const;
type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** A delivery with its body. Null once retention has deleted the body. */
export interface DeliveryWithPayload extends DeliveryView {
  payload: Envelope | null;
}

export interface DeliveryFilter {
  status?: DeliveryStatus | undefined;
  event_type?: string | undefined;
}

export const DELIVERY_COLUMNS = [
  'id',
  'organization_id',
  'endpoint_id',
  'event_id',
  'event_type',
  'status',
  'attempt_count',
  'max_attempts',
  'next_attempt_at',
  'last_attempt_at',
  'response_status',
  'response_body_excerpt',
  'error_reason',
  'blocked_reason',
  'created_at',
  'updated_at',
] as const;

/** A delivery of one event to one endpoint. Its row is updated with every attempt. */
export type DeliveryView = Columns<'webhook_deliveries', (typeof DELIVERY_COLUMNS)[number]>;

/**
 * Lists deliveries to the workspace's own endpoints, newest first (GET /webhooks/deliveries).
 * @throws AppError bad_request for a cursor of another list or filter
 */
export async function listDeliveries(
  ctx: Ctx,
  filter: DeliveryFilter,
  page: PageRequest,
): Promise<Page<DeliveryWithPayload>> {
  return withPayloads(
    ctx,
    await pageOfDeliveries(
      reader(ctx).table('webhook_deliveries').whereNull('application_id'),
      'webhooks.deliveries',
      null,
      filter,
      page,
    ),
  );
}

/**
 * Lists deliveries to one of the workspace's own endpoints, newest first.
 * @throws AppError not_found, bad_request as {@link listDeliveries}
 */
export async function listEndpointDeliveries(
  ctx: Ctx,
  endpointId: string,
  filter: DeliveryFilter,
  page: PageRequest,
): Promise<Page<DeliveryWithPayload>> {
  const { id } = await getEndpoint(ctx, endpointId);
  const deliveries = reader(ctx).table('webhook_deliveries').where({ endpoint_id: id }).whereNull('application_id');
  return withPayloads(ctx, await pageOfDeliveries(deliveries, 'webhooks.endpoint-deliveries', id, filter, page));
}

/** One request of a delivery: its time, duration (ms) and result. */
export type DeliveryAttempt = Pick<
  Row<'webhook_attempts'>,
  'attempt' | 'started_at' | 'duration_ms' | 'response_status' | 'error_reason' | 'batch_id'
> & { endpoint_id: string };

/** Maximum number of attempts listed per delivery. Redeliveries can add any number of attempts. */
const LISTED_ATTEMPTS = 100;

/**
 * Lists the latest attempts of a delivery to one of the workspace's own endpoints, newest first.
 * @throws AppError not_found, also for an application's delivery
 */
export async function listAttempts(ctx: Ctx, deliveryId: string): Promise<DeliveryAttempt[]> {
  const org = reader(ctx);
  const delivery =
    isUuid(deliveryId) &&
    (await org.table('webhook_deliveries').where({ id: deliveryId }).whereNull('application_id').first('endpoint_id'));
  if (!delivery) throw notFound('webhook_delivery');
  const attempts = await org
    .table('webhook_attempts')
    .where({ delivery_id: deliveryId })
    .orderBy('attempt', 'desc')
    .limit(LISTED_ATTEMPTS)
    .select('attempt', 'started_at', 'duration_ms', 'response_status', 'error_reason', 'batch_id');
  return attempts.map((attempt) => ({ ...attempt, ...delivery }));
}

/**
 * Returns a page of deliveries by id, from a query that filters by their owner.
 * @param list names the list in its cursors
 * @param of owner of the list; a cursor is refused for another owner
 */
export async function pageOfDeliveries(
  query: TableQuery<'webhook_deliveries', unknown>,
  list: string,
  of: string | null,
  filter: DeliveryFilter,
  page: PageRequest,
): Promise<Page<DeliveryView>> {
  const filters = [of, filter.status ?? null, filter.event_type ?? null];
  const after = decodeIdCursor(list, filters, page.cursor);
  if (filter.status) void query.where({ status: filter.status });
  if (filter.event_type) void query.where({ event_type: filter.event_type });
  if (after) void query.where('id', '<', after);
  const rows = await query
    .orderByRaw('id desc nulls last')
    .limit(page.limit + 1)
    .select(...DELIVERY_COLUMNS);
  return pageOf(rows, page.limit, (last) => encodeCursor(list, filters, [last.id]));
}

/** Adds the stored bodies to a page of the workspace's own deliveries. */
export async function withPayloads(ctx: Ctx, page: Page<DeliveryView>): Promise<Page<DeliveryWithPayload>> {
  const ids = [...new Set(page.rows.map((row) => row.event_id))];
  const stored =
    ids.length === 0
      ? []
      : await reader(ctx).table('webhook_payloads').whereIn('event_id', ids).select('event_id', 'body');
  const bodies = new Map(stored.map((row) => [row.event_id, JSON.parse(row.body) as Envelope]));
  return { ...page, rows: page.rows.map((row) => ({ ...row, payload: bodies.get(row.event_id) ?? null })) };
}
