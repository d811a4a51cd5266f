import { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import {
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRedis,
  type RateLimiterStoreAbstract,
} from 'rate-limiter-flexible';
import type { Clock } from './clock.ts';

/** Length (ms) of the sliding window in which requests are counted. */
export const WINDOW_MS = 60_000;
/**
 * Length (ms) of a slice. Requests are counted per slice. All requests of a slice leave the window together, 60 seconds
 * after its start.
 */
const SLICE_MS = 1_000;
const SLICES = WINDOW_MS / SLICE_MS;
/** Seconds for which a slice is kept: until it has left the window in every process. */
const COUNTER_TTL_SECONDS = (WINDOW_MS + 10_000) / 1000;
/**
 * Maximum number of keys in each cache of a process. Uses `maxSize`, because `max` would allocate memory for all
 * entries at the start.
 */
const REMEMBERED = { maxSize: 10_000, sizeCalculation: () => 1 };
const PREFIX = 'rate';
const TABLE = 'rate_limit_counts';

/** Result of counting one request. */
interface Taken {
  /**
   * Time (ms) to wait; 0 if the request is allowed. After the wait a request is allowed, if the key has made none in
   * the meantime.
   */
  waitMs: number;
  /** Number of requests that the key may make now; Infinity without a limit. */
  remaining: number;
  /** Time (ms) until the oldest counted request leaves the window, so that `remaining` grows. */
  resetMs: number;
}

/** State of a limit after a request, for the RateLimit headers of the response. */
export interface Quota {
  /** Name of the limit in the headers. */
  policy: string;
  limit: number;
  windowMs: number;
  remaining: number;
  /** Time (ms) until `remaining` grows. */
  resetMs: number;
}

/** Limits the requests per key in any 60 seconds. */
export interface RateLimiter {
  /**
   * Counts one request of `key`. A refused request is not counted.
   * @param limitPerMinute requests in any 60 seconds; 0 is unlimited
   */
  take(key: string, limitPerMinute: number): Promise<Taken>;
  close(): Promise<void>;
}

/** Storage of counts; each expires after {@link COUNTER_TTL_SECONDS}. */
interface Counters {
  /** Adds to a count and returns its new value. */
  add(id: string, by: 1 | -1): Promise<number>;
  /** Returns counts in the order of their ids, 0 for an unknown id. */
  read(ids: readonly string[]): Promise<number[]>;
  close(): Promise<void>;
}

/**
 * Counts of the finished slices of a key's window, the oldest first. They are valid while `running` is the current
 * slice.
 */
interface FinishedSlices {
  running: number;
  counts: readonly number[];
}

/**
 * Creates a limiter with a sliding window. Every request atomically increments the count of its slice. The request is
 * refused if the window then exceeds the limit, so processes with shared counts enforce one common limit. The requests
 * of a slice leave the window together, up to one second early, so a wait is never longer than the window.
 */
export function createRateLimiter(clock: Clock, counters: Counters = memoryCounters()): RateLimiter {
  const finished = new LRUCache<string, FinishedSlices>(REMEMBERED);
  const refusedUntil = new LRUCache<string, number>(REMEMBERED);

  /** Returns the counts of the finished slices. Finished slices no longer change, so each is queried only once. */
  async function finishedCounts(key: string, running: number): Promise<readonly number[]> {
    const known = finished.get(key);
    if (known?.running === running) return known.counts;
    const kept = known && known.running < running ? known.counts.slice(running - known.running) : [];
    const missing = SLICES - 1 - kept.length;
    const ids = Array.from({ length: missing }, (_, i) => `${key}/${running - missing + i}`);
    const counts = [...kept, ...(await counters.read(ids))];
    finished.set(key, { running, counts });
    return counts;
  }

  return {
    async take(key, limit) {
      if (limit <= 0) return { waitMs: 0, remaining: Infinity, resetMs: 0 };
      const now = clock.now().getTime();
      const refusal = `${key}/${limit}`;
      // A repeated request before the end of the wait is refused without a query.
      const waitMs = (refusedUntil.get(refusal) ?? 0) - now;
      if (waitMs > 0) return { waitMs, remaining: 0, resetMs: waitMs };

      const slice = Math.floor(now / SLICE_MS);
      const [past, count] = await Promise.all([finishedCounts(key, slice), counters.add(`${key}/${slice}`, 1)]);
      // A count above the limit includes concurrent requests that are refused. Refused requests do not count.
      const taken = judge([...past, Math.min(count - 1, limit)], { limit, now, slice });
      if (taken.waitMs === 0) return taken;
      await counters.add(`${key}/${slice}`, -1);
      refusedUntil.set(refusal, now + taken.waitMs);
      return taken;
    },
    close: () => counters.close(),
  };
}

/**
 * Decides if one more request is allowed.
 * @param counts per slice, the oldest first; the last belongs to the current `slice`
 */
function judge(counts: readonly number[], { limit, now, slice }: { limit: number; now: number; slice: number }): Taken {
  const leavesInMs = (index: number) => (slice + 1 + index) * SLICE_MS - now;
  const used = counts.reduce((sum, count) => sum + count, 0);
  if (used < limit) {
    const oldest = counts.findIndex((count) => count > 0);
    return { waitMs: 0, remaining: limit - used - 1, resetMs: leavesInMs(oldest < 0 ? counts.length - 1 : oldest) };
  }
  let excess = used - limit + 1;
  const opening = counts.findIndex((count) => (excess -= count) <= 0);
  const waitMs = leavesInMs(opening);
  return { waitMs, remaining: 0, resetMs: waitMs };
}

/** Creates counts in memory, for this process only. */
export function memoryCounters(): Counters {
  const counters = new RateLimiterMemory({ keyPrefix: PREFIX, points: 1, duration: COUNTER_TTL_SECONDS });
  return {
    add: adding(counters),
    read: (ids) => Promise.all(ids.map(async (id) => (await counters.get(id))?.consumedPoints ?? 0)),
    close: () => Promise.resolve(),
  };
}

function adding(counters: RateLimiterMemory | RateLimiterStoreAbstract): Counters['add'] {
  return async (id, by) => (await (by > 0 ? counters.penalty(id, 1) : counters.reward(id, 1))).consumedPoints;
}

/** Runs one statement of rate-limiter-flexible, with `$1` parameters. */
export type PgQuery = (statement: {
  name?: string;
  text: string;
  values?: unknown[];
}) => Promise<{ rows: Record<string, unknown>[] }>;

/** Creates counts in PostgreSQL (table `rate_limit_counts`), shared by all processes. */
export function postgresCounters(query: PgQuery): Counters {
  const counters = new RateLimiterPostgres({
    storeClient: { query },
    storeType: 'pool',
    tableName: TABLE,
    tableCreated: true,
    keyPrefix: PREFIX,
    points: 1,
    duration: COUNTER_TTL_SECONDS,
  });
  return {
    add: adding(counters),
    async read(ids) {
      const keys = ids.map((id) => counters.getKey(id));
      const { rows } = await query({
        name: 'rate-limit-read',
        text: `select key, points from ${TABLE} where key = any($1)`,
        values: [keys],
      });
      const found = new Map(rows.map(({ key, points }) => [key, Number(points)]));
      return keys.map((key) => found.get(key) ?? 0);
    },
    close: () => Promise.resolve(),
  };
}

/**
 * Creates counts in Redis, shared by all processes. While Redis is unreachable, each process counts separately.
 * @param onError called with connection errors
 */
export function redisCounters(url: string, onError: (error: Error) => void): Counters {
  const client = new Redis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 1 });
  client.on('error', onError);
  const own = memoryCounters();
  const counters = new RateLimiterRedis({
    storeClient: client,
    keyPrefix: PREFIX,
    points: 1,
    duration: COUNTER_TTL_SECONDS,
    rejectIfRedisNotReady: true,
  });
  const shared = adding(counters);
  return {
    add: (id, by) => shared(id, by).catch(() => own.add(id, by)),
    async read(ids) {
      try {
        return (await client.mget(ids.map((id) => counters.getKey(id)))).map(Number);
      } catch {
        return own.read(ids);
      }
    },
    async close() {
      client.disconnect();
    },
  };
}

/**
 * Pings Redis.
 * @throws Error when there is no answer within the timeout (ms)
 */
export async function pingRedis(url: string, timeoutMs: number): Promise<void> {
  const client = new Redis(url, { lazyConnect: true, connectTimeout: timeoutMs, retryStrategy: () => null });
  client.on('error', () => {});
  try {
    await client.ping();
  } finally {
    client.disconnect();
  }
}
