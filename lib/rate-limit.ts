import { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import {
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRedis,
  type RateLimiterStoreAbstract,
} from 'rate-limiter-flexible';
import type { Clock } from './clock.ts';

/** The window in which requests are counted. */
const WINDOW_MS = 60_000;
/** Requests are counted per slice of the window; of the oldest slice only the share that is still inside the window counts. */
const SLICE_MS = 5_000;
const SLICES = WINDOW_MS / SLICE_MS;
/** A slice is kept until the window has left it behind. */
const KEPT_SECONDS = (WINDOW_MS + 2 * SLICE_MS) / 1000;
/** Slices, and refused keys, that one process remembers. */
const MAX_REMEMBERED = 50_000;
const PREFIX = 'rate';
const TABLE = 'rate_limit_counts';

/** Limits the requests per key in any 60 seconds. */
export interface RateLimiter {
  /**
   * Counts one request of `key`, unless it is refused: a refused request uses up nothing.
   * @param limitPerMinute requests in any 60 seconds; 0 is unlimited
   * @returns how long (ms) to wait; 0 when the request may pass. After this wait it passes if the key made no other request meanwhile.
   */
  take(key: string, limitPerMinute: number): Promise<number>;
  close(): Promise<void>;
}

/** Where counts are kept: a limiter of rate-limiter-flexible, used for its counters and their expiry. */
interface Counters {
  counters: Pick<RateLimiterMemory | RateLimiterStoreAbstract, 'penalty' | 'reward' | 'get'>;
  close(): Promise<void>;
}

/**
 * A sliding window. Every request adds one to the counter of its slice, in one atomic step, and is refused when it and what
 * the window holds are more than the limit; so processes that share counters enforce one limit together. The
 * requests of the oldest slice are assumed to be spread evenly over its 5 seconds: after a burst, 60 seconds can contain more
 * requests by the error of that estimate.
 */
export function createRateLimiter(clock: Clock, { counters, close }: Counters = memoryCounters()): RateLimiter {
  const closedSlices = new LRUCache<string, number>({ max: MAX_REMEMBERED });
  const refusedUntil = new LRUCache<string, number>({ max: MAX_REMEMBERED });

  /** Counts of the slices that are over, the oldest first. They change no more, so each is asked for once. */
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
      // Asking again too early costs the store nothing.
      const until = refusedUntil.get(refusal) ?? 0;
      if (until > now) return until - now;

      const slice = Math.floor(now / SLICE_MS);
      const [past, { consumedPoints }] = await Promise.all([
        pastCounts(key, slice),
        counters.penalty(`${key}/${slice}`, 1),
      ]);
      // More than the limit are those being refused at this moment, which do not count.
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
 * How long (ms) until a window has room for one more, if nothing comes in between.
 * @param counts per slice, the oldest first; the last is the running one
 * @param elapsedMs how much of the running slice is over
 */
function waitFor(counts: readonly number[], elapsedMs: number, limit: number): number {
  for (let later = 0; later < counts.length; later += 1) {
    const oldest = counts[later]!;
    const newer = counts.slice(later + 1).reduce((sum, count) => sum + count, 0);
    const room = limit - 1 - newer;
    if (room < 0) continue;
    // The moment in that slice at which so much of the oldest has left the window that the rest of it fits.
    const fitsAt = oldest <= room ? 0 : Math.ceil((1 - room / oldest) * SLICE_MS);
    return Math.max(0, later * SLICE_MS + fitsAt - elapsedMs);
  }
  throw new Error('a window without a running slice');
}

/** Counters of this process alone; gone when it ends. */
export function memoryCounters(): Counters {
  return {
    counters: new RateLimiterMemory({ keyPrefix: PREFIX, points: 1, duration: KEPT_SECONDS }),
    close: () => Promise.resolve(),
  };
}

/** One statement of rate-limiter-flexible, with `$1` parameters. */
export type PgQuery = (statement: { name?: string; text: string; values?: unknown[] }) => Promise<unknown>;

/** Counters in PostgreSQL (table `rate_limit_counts`), shared by all processes: one statement per request. */
export function postgresCounters(query: PgQuery): Counters {
  const counters = new RateLimiterPostgres({
    storeClient: { query },
    storeType: 'pool',
    tableName: TABLE,
    tableCreated: true,
    keyPrefix: PREFIX,
    points: 1,
    duration: KEPT_SECONDS,
  });
  return { counters, close: () => Promise.resolve() };
}

/**
 * Counters in Redis, shared by all processes. While Redis cannot be reached each process counts for itself.
 * @param onError called with errors of the connection
 */
export function redisCounters(url: string, onError: (error: Error) => void): Counters {
  const client = new Redis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 1 });
  client.on('error', onError);
  const counters = new RateLimiterRedis({
    storeClient: client,
    keyPrefix: PREFIX,
    points: 1,
    duration: KEPT_SECONDS,
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
 * Asks Redis for an answer.
 * @throws Error when there is none in time (ms)
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
