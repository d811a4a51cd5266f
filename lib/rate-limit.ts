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
const WINDOW_MS = 60_000;
/**
 * Length (ms) of a slice. Requests are counted per slice. The oldest slice counts only with its share that is still
 * inside the window.
 */
const SLICE_MS = 5_000;
const SLICES = WINDOW_MS / SLICE_MS;
/** Seconds for which a slice is kept: until the window has passed it. */
const COUNTER_TTL_SECONDS = (WINDOW_MS + 2 * SLICE_MS) / 1000;
/**
 * Bound of the slices, and of the refused keys, that one process caches. Counted as sizes, because `max` would allocate
 * all places at the start.
 */
const REMEMBERED = { maxSize: 50_000, sizeCalculation: () => 1 };
const PREFIX = 'rate';
const TABLE = 'rate_limit_counts';

/** Limits the requests per key in any 60 seconds. */
export interface RateLimiter {
  /**
   * Counts one request of `key`. A refused request is not counted.
   * @param limitPerMinute requests in any 60 seconds; 0 is unlimited
   * @returns milliseconds to wait; 0 if the request is allowed. After this wait it is allowed if the key made no other
   * request meanwhile.
   */
  take(key: string, limitPerMinute: number): Promise<number>;
  close(): Promise<void>;
}

/** Storage of the counts: a limiter of rate-limiter-flexible, used for its counters and their expiry. */
interface Counters {
  counters: Pick<RateLimiterMemory | RateLimiterStoreAbstract, 'penalty' | 'reward' | 'get'>;
  close(): Promise<void>;
}

/**
 * Creates a limiter with a sliding window. Every request atomically increments the counter of its slice. It is refused
 * if the window then holds more than the limit, so processes that share counters enforce one common limit. The requests
 * of the oldest slice are assumed to be spread evenly over its 5 seconds. After a burst, 60 seconds can therefore
 * contain slightly more requests than the limit.
 */
export function createRateLimiter(clock: Clock, { counters, close }: Counters = memoryCounters()): RateLimiter {
  const closedSlices = new LRUCache<string, number>(REMEMBERED);
  const refusedUntil = new LRUCache<string, number>(REMEMBERED);

  /**
   * Returns the counts of the finished slices, the oldest first. These counts no longer change, so each is queried only
   * once.
   */
  async function pastCounts(key: string, running: number): Promise<number[]> {
    const ids = Array.from({ length: SLICES }, (_, i) => `${key}/${running - SLICES + i}`);
    const unknown = ids.filter((id) => !closedSlices.has(id));
    const found = await Promise.all(unknown.map((id) => counters.get(id)));
    for (const [i, id] of unknown.entries()) closedSlices.set(id, found[i]?.consumedPoints ?? 0);
    return ids.map((id) => closedSlices.get(id) ?? 0);
  }

  return {
    async take(key, limit) {
      if (limit <= 0) return 0;
      const now = clock.now().getTime();
      const refusal = `${key}/${limit}`;
      // A repeated request before the end of the wait is refused without a query.
      const until = refusedUntil.get(refusal) ?? 0;
      if (until > now) return until - now;

      const slice = Math.floor(now / SLICE_MS);
      const [past, { consumedPoints }] = await Promise.all([
        pastCounts(key, slice),
        counters.penalty(`${key}/${slice}`, 1),
      ]);
      // A count above the limit comes from concurrent requests that are being refused, which do not count.
      const before = Math.min(consumedPoints - 1, limit);
      const waitMs = waitFor([...past, before], now - slice * SLICE_MS, limit);
      if (waitMs === 0) return 0;
      await counters.reward(`${key}/${slice}`, 1);
      refusedUntil.set(refusal, now + waitMs);
      return waitMs;
    },
    close,
  };
}

/**
 * Returns the time (ms) until the window has room for one more request, if none arrives meanwhile.
 * @param counts per slice, the oldest first; the last is the current slice
 * @param elapsedMs elapsed time of the current slice
 */
function waitFor(counts: readonly number[], elapsedMs: number, limit: number): number {
  for (let later = 0; later < counts.length; later += 1) {
    const oldest = counts[later]!;
    const newer = counts.slice(later + 1).reduce((sum, count) => sum + count, 0);
    const room = limit - 1 - newer;
    if (room < 0) continue;
    // Time (ms) within that slice at which enough of the oldest slice has left the window.
    const fitsAt = oldest <= room ? 0 : Math.ceil((1 - room / oldest) * SLICE_MS);
    return Math.max(0, later * SLICE_MS + fitsAt - elapsedMs);
  }
  throw new Error('a window without a running slice');
}

/** Creates counters in memory, for this process only. */
export function memoryCounters(): Counters {
  return {
    counters: new RateLimiterMemory({ keyPrefix: PREFIX, points: 1, duration: COUNTER_TTL_SECONDS }),
    close: () => Promise.resolve(),
  };
}

/** Runs one statement of rate-limiter-flexible, with `$1` parameters. */
export type PgQuery = (statement: { name?: string; text: string; values?: unknown[] }) => Promise<unknown>;

/** Creates counters in PostgreSQL (table `rate_limit_counts`), shared by all processes. One statement per request. */
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
  return { counters, close: () => Promise.resolve() };
}

/**
 * Creates counters in Redis, shared by all processes. While Redis is unreachable, each process counts for itself.
 * @param onError called with connection errors
 */
export function redisCounters(url: string, onError: (error: Error) => void): Counters {
  const client = new Redis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 1 });
  client.on('error', onError);
  const counters = new RateLimiterRedis({
    storeClient: client,
    keyPrefix: PREFIX,
    points: 1,
    duration: COUNTER_TTL_SECONDS,
    rejectIfRedisNotReady: true,
    insuranceLimiter: memoryCounters().counters as RateLimiterMemory,
  });
  return {
    counters,
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
