import { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.ts';
import { VERSION } from './version.ts';
import { within } from './within.ts';

/** Answers that one process remembers. */
const MAX_REMEMBERED = 1_000;
/** How long (ms) Redis may take: asking anew costs more, and waiting longer would cost more than that. */
const PATIENCE_MS = 500;
/** Of this release alone: another one may have another form of the same answer. */
const PREFIX = `heron/cache/${VERSION}/`;

/**
 * Answers that are dear to ask for and good for a while: remembered by the process, and with Redis by all of them. Nothing secret, nothing of one
 * organization, and nothing that must be current: whoever can write to that Redis can change them.
 */
export interface SharedCache {
  /**
   * The answer under a key, asked for only where nobody knows it. Redis that is away or slow is as one that knows nothing.
   * @param ttlMs how long an answer is good (ms)
   * @throws what `ask` throws; that is not remembered
   */
  remember<T>(key: string, ttlMs: (answer: T) => number, ask: () => Promise<T>): Promise<T>;
  close(): void;
}

interface Remembered {
  answer: unknown;
  until: number;
}

/**
 * @param url of Redis; without it each process remembers for itself
 * @param onError called with errors of the connection
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
  // The first call waits for the connection; later ones do not, as it comes back by itself.
  let opening: Promise<void> | undefined;
  const opened = () =>
    (opening ??= within(
      redis.connect().catch(() => {}),
      PATIENCE_MS,
      () => {},
    ));
  return {
    /** What is there, or undefined when it cannot be known. */
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
