import { DAY_MS } from '../../../lib/clock.ts';
import { ApiKeyUsageLogs, type ApiKeyUsageLogRow } from '../../../db/models/api-key-usage-log.ts';
import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../../lib/cursor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { average } from './analytics.ts';
import { readKey } from './keys.ts';

export type { ApiKeyUsageLogRow } from '../../../db/models/api-key-usage-log.ts';

const LIST = 'api-key-logs';

/** Use of the organization's keys in the past 24 hours, counted in whole minutes. */
export interface UsageSummary {
  active_keys: number;
  revoked_keys: number;
  expired_keys: number;
  requests_24h: number;
  errors_24h: number;
  /** Mean latency (ms). 0 without requests. */
  avg_latency_ms_24h: number;
  last_call_at: Date | null;
}

/** Returns the number of keys by state and their use in the past 24 hours (GET /api-keys/usage/summary). */
export async function usageSummary(ctx: Ctx): Promise<UsageSummary> {
  const now = ctx.clock.now();
  const [row] = await reader(ctx).sql<Omit<UsageSummary, 'avg_latency_ms_24h'> & { latency_ms: number }>(
    `select k.active_keys, k.revoked_keys, k.expired_keys, u.requests_24h, u.errors_24h, u.latency_ms,
       greatest(k.last_used_at, l.last_at) as last_call_at
     from (
       select count(*) filter (where status = 'active' and (expires_at is null or expires_at > :now)) as active_keys,
         count(*) filter (where status = 'revoked') as revoked_keys,
         count(*) filter (where status = 'active' and expires_at <= :now) as expired_keys,
         max(last_used_at) as last_used_at
       from api_keys where organization_id = :org
     ) k
     cross join (
       select coalesce(sum(count), 0) as requests_24h, coalesce(sum(client_errors + server_errors), 0) as errors_24h,
         coalesce(sum(latency_ms), 0) as latency_ms
       from api_key_usage_minutes
       where organization_id = :org and minute >= date_trunc('minute', :since::timestamptz) and minute <= :now
     ) u
     cross join (
       select max(last_at) as last_at from api_key_usage_minutes
       where organization_id = :org and minute = (select max(minute) from api_key_usage_minutes where organization_id = :org)
     ) l`,
    { now, since: new Date(now.getTime() - DAY_MS) },
  );
  const { latency_ms, ...summary } = row!;
  return { ...summary, avg_latency_ms_24h: average(latency_ms, summary.requests_24h) };
}

/**
 * Lists the requests made with a key, newest first (GET /api-keys/:id/logs).
 * @param requestId lists only the requests with this id
 * @throws AppError not_found, bad_request for a cursor of another list or key
 */
export async function listUsageLogs(
  ctx: Ctx,
  keyId: string,
  { requestId, ...page }: PageRequest & { requestId?: string | undefined },
): Promise<Page<ApiKeyUsageLogRow>> {
  const key = await readKey(ctx, keyId);
  const after = decodeIdCursor(LIST, key.id, page.cursor);
  const query = reader(ctx)
    .query(ApiKeyUsageLogs)
    .where('api_key_id', key.id)
    .orderBy('id', 'desc')
    .limit(page.limit + 1);
  if (requestId) void query.where('request_id', requestId);
  if (after) void query.where('id', '<', after);
  return pageOf(await query, page.limit, (last) => encodeCursor(LIST, key.id, [last.id]));
}
