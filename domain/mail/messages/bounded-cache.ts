import { LRUCache } from 'lru-cache';

/** A least-recently-used cache keyed by source text and bounded by the total length of its keys. */
interface BoundedCache<T> {
  /** The cached value, or `create()`'s result, which is then kept. */
  getOrCreate(key: string, create: () => T): T;
}

/**
 * Makes a {@link BoundedCache} whose keys together hold at most `maxTotalLength` UTF-16 code units. The bound is on
 * length, not on entries, because what is parsed from a text grows with it. A key longer than a sixteenth of the bound
 * is not kept, so that no single one can empty the cache.
 */
export function createBoundedCache<T extends {}>(maxTotalLength: number): BoundedCache<T> {
  const entries = new LRUCache<string, T>({
    maxSize: maxTotalLength,
    maxEntrySize: Math.floor(maxTotalLength / 16),
    sizeCalculation: (_value, key) => Math.max(1, key.length),
  });
  return {
    getOrCreate(key, create) {
      const value = entries.get(key) ?? create();
      entries.set(key, value);
      return value;
    },
  };
}
