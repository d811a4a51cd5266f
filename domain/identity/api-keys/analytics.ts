import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/clock.ts';
import { badRequest, type Problem } from '../../../lib/errors.ts';
import { ZERO_UUID } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { readKey } from './keys.ts';
import { message } from '../../../messages/index.ts';

/** Bucket sizes, aligned to UTC, each with its longest range (days). */
const INTERVALS = {
  minute: { ms: MINUTE_MS, longestDays: 1 },
  hour: { ms: HOUR_MS, longestDays: 31 },
  day: { ms: DAY_MS, longestDays: 92 },
} as const;
export type UsageInterval = keyof typeof INTERVALS;

interface AnalyticsRequest {
  /** Start of the range. Default: 24 hours before `to`. */
  from?: Date | undefined;
  /** End of the range. Default: now. */
  to?: Date | undefined;
  interval: UsageInterval;
}

interface Counts {
  total: number;
  success: number;
  client_errors: number;
  server_errors: number;
  /** Mean latency (ms). 0 without requests. */
  avg_latency_ms: number;
}

interface UsageBucket extends Counts {
  /** Start of the bucket. */
  bucket: Date;
}

interface EndpointUse {
  endpoint: string;
  method: string;
  count: number;
  error_count: number;
  avg_latency_ms: number;
}

export interface UsageAnalytics {
  api_key_id: string;
  from: Date;
  to: Date;
  interval: UsageInterval;
  /** All buckets without gaps: from the one that contains `from` to the last one that begins before `to`. */
  buckets: UsageBucket[];
  /** Endpoints, most used first. */
  endpoints: EndpointUse[];
  total: number;
  errors: number;
}

/** One line of the grouped counts: a bucket or an endpoint. */
interface Line {
  bucket: Date | null;
  endpoint: string;
  method: string;
  total: number;
  success: number;
  client_errors: number;
  server_errors: number;
  latency_ms: number;
}

const EMPTY: Counts = { total: 0, success: 0, client_errors: 0, server_errors: 0, avg_latency_ms: 0 };

/**
 * Returns the usage over time of a key, or with `all` of the whole organization. Counts whole minutes, including the
 * minutes that contain `from` and `to`. Buckets and endpoints each add up to the totals.
 * @throws AppError not_found, bad_request for a range that ends before it begins or is too long for its interval
 */
export async function usageAnalytics(ctx: Ctx, keyId: string, request: AnalyticsRequest): Promise<UsageAnalytics> {
  const key = keyId === 'all' ? null : await readKey(ctx, keyId);
  const { from, to } = rangeOf(ctx.clock.now(), request);
  const { ms } = INTERVALS[request.interval];
  const lines = await reader(ctx).sql<Line>(
    `select date_bin(make_interval(secs => :seconds), minute, 'epoch'::timestamptz) as bucket, endpoint, method,
       sum(count) as total, sum(success) as success, sum(client_errors) as client_errors, sum(server_errors) as server_errors,
       sum(latency_ms) as latency_ms
     from api_key_usage_minutes
     where organization_id = :org ${key ? 'and api_key_id = :key' : ''} and minute >= :from and minute < :to
     group by grouping sets ((1), (endpoint, method))`,
    { seconds: ms / 1000, from: new Date(floor(from, MINUTE_MS)), to, ...(key ? { key: key.id } : {}) },
  );
  const counted = new Map(
    lines.flatMap((line) => (line.bucket ? [[line.bucket.getTime(), countsOf(line)] as const] : [])),
  );
  const buckets: UsageBucket[] = [];
  for (let at = floor(from, ms); at < to.getTime(); at += ms)
    buckets.push({ bucket: new Date(at), ...(counted.get(at) ?? EMPTY) });
  const sum = (pick: (bucket: UsageBucket) => number) => buckets.reduce((total, bucket) => total + pick(bucket), 0);
  return {
    api_key_id: key?.id ?? ZERO_UUID,
    from,
    to,
    interval: request.interval,
    buckets,
    endpoints: lines
      .filter((line) => !line.bucket)
      .map(endpointOf)
      .sort(byUse),
    total: sum((bucket) => bucket.total),
    errors: sum((bucket) => bucket.client_errors + bucket.server_errors),
  };
}

/** Returns the requested range with its defaults. */
function rangeOf(now: Date, request: AnalyticsRequest): { from: Date; to: Date } {
  const to = request.to ?? now;
  const from = request.from ?? new Date(to.getTime() - DAY_MS);
  const { longestDays } = INTERVALS[request.interval];
  const problems: Problem[] = [];
  if (from >= to)
    problems.push({
      path: 'query.from',
      message: request.to ? message('field.before_to') : message('field.before_now'),
    });
  if (to.getTime() - from.getTime() > longestDays * DAY_MS) {
    problems.push({
      path: 'query.from',
      message: message('field.range_days', { days: longestDays, interval: request.interval }),
    });
  }
  if (problems.length > 0) throw badRequest(message('api_key.range'), problems);
  return { from, to };
}

function floor(at: Date, ms: number): number {
  return Math.floor(at.getTime() / ms) * ms;
}

function countsOf({ total, success, client_errors, server_errors, latency_ms }: Line): Counts {
  return { total, success, client_errors, server_errors, avg_latency_ms: average(latency_ms, total) };
}

function endpointOf({ endpoint, method, total, client_errors, server_errors, latency_ms }: Line): EndpointUse {
  return {
    endpoint,
    method,
    count: total,
    error_count: client_errors + server_errors,
    avg_latency_ms: average(latency_ms, total),
  };
}

function byUse(a: EndpointUse, b: EndpointUse): number {
  return b.count - a.count || (`${a.endpoint} ${a.method}` < `${b.endpoint} ${b.method}` ? -1 : 1);
}

/** Returns the mean latency (ms) with two decimals, or 0 for no requests. */
export function average(sum: number, count: number): number {
  return count === 0 ? 0 : Math.round((sum / count) * 100) / 100;
}
