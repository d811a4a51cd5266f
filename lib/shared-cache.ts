import { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.ts';
import { VERSION } from './version.ts';
import { withTimeout } from './with-timeout.ts';

/** Maximum number of answers that one process caches. */
const MAX_REMEMBERED = 1_000;
/** Timeout (ms) of Redis. A longer wait would cost more than computing the answer again. */
const PATIENCE_MS = 500;
/** Key prefix. It contains the version, because another version may store the same answer in another form. */
const PREFIX = `heron/cache/${VERSION}/`;

/**
 * Cache of expensive answers that stay valid for a while, in the process and, with Redis, shared by all processes. Do
 * not cache secrets, data of an organization, or data that must be current, because anybody with write access to Redis
 * can change it.
 */
export interface SharedCache {
  /**
   * Returns the cached answer of a key, or calls `ask`. An unreachable or slow Redis counts as a cache miss.
   * @param ttlMs returns the validity (ms) of an answer
   * @throws the error of `ask`, which is not cached
   */
  remember<T>(key: string, ttlMs: (answer: T) => number, ask: () => Promise<T>): Promise<T>;
  close(): void;
}

interface Remembered {
  answer: unknown;
  until: number;
}

/**
 * @param url URL of Redis; without it each process has its own cache
 * @param onError called with connection errors
 */
export function createSharedCache(clock: Clock, url?: string, onError: (error: Error) => void = () => {}): SharedCache {
  const own = new LRUCache<string, Remembered>({ max: MAX_REMEMBERED });
  const asking = new Map<string, Promise<unknown>>();
  const shared = url === undefined ? undefined : openRedis(url, onError);
  const now = () => clock.now().getTime();

  async function find<T>(key: string, ttlMs: (answer: T) => number, ask: () => Promise<T>): Promise<T> {
    const theirs = await shared?.get(key);
    if (theirs && theirs.until > now()) {
      own.set(key, theirs);
      return theirs.answer as T;
    }
    const answer = await ask();
    const kept = { answer, until: now() + ttlMs(answer) };
    own.set(key, kept);
    await shared?.put(key, kept, ttlMs(answer));
    return answer;
  }

  return {
    async remember<T>(key: string, ttlMs: (answer: T) => number, ask: () => Promise<T>) {
      const known = own.get(key);
      if (known && known.until > now()) return known.answer as T;
      const running = asking.get(key) ?? find(key, ttlMs, ask).finally(() => asking.delete(key));
      asking.set(key, running);
      return running as Promise<T>;
    },
    close: () => shared?.close(),
  };
}

function openRedis(url: string, onError: (error: Error) => void) {
  const redis = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: PATIENCE_MS,
    connectTimeout: PATIENCE_MS * 4,
  });
  redis.on('error', onError);
  // Only the first call waits for the connection. Later the client reconnects in the background.
  let opening: Promise<void> | undefined;
  const opened = () =>
    (opening ??= withTimeout(
      redis.connect().catch(() => {}),
      PATIENCE_MS,
      () => {},
    ));
  return {
    /** Returns the stored answer, or undefined if it is missing or Redis fails. */
    async get(key: string): Promise<Remembered | undefined> {
      await opened();
      try {
        const text = await redis.get(PREFIX + key);
        return text === null ? undefined : (JSON.parse(text) as Remembered);
      } catch {
        return undefined;
      }
    },
    async put(key: string, value: Remembered, ttlMs: number): Promise<void> {
      await redis.set(PREFIX + key, JSON.stringify(value), 'PX', Math.max(1, ttlMs)).catch(() => {});
    },
    close: () => redis.disconnect(),
  };
}
