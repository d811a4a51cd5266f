import { LRUCache } from 'lru-cache';

/** A least-recently-used cache keyed by source text and bounded by the total length of its keys. */
interface BoundedCache<T> {
  /** Returns the cached value, or stores and returns the result of `create()`. */
  getOrCreate(key: string, create: () => T): T;
}

/**
 * Creates a {@link BoundedCache} whose keys together have at most `maxTotalLength` UTF-16 code units. The bound is on
 * length, not on the number of entries, because the parsed form grows with the text. A key longer than a sixteenth of
 * the bound is not cached, so that a single key cannot empty the cache.
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
