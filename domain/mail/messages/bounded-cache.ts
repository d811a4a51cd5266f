/** A least-recently-used cache keyed by source text and bounded by the total length of its keys. */
export interface BoundedCache<T> {
  /** The cached value, or `create()`'s result, which is then kept. */
  getOrCreate(key: string, create: () => T): T;
}

/**
 * Makes a {@link BoundedCache} whose keys together hold at most `maxTotalLength` UTF-16 code units. The bound is on
 * length, not on entries, because what is parsed from a text grows with it. A key longer than a sixteenth of the bound
 * is not kept, so that no single one can empty the cache.
 */
export function createBoundedCache<T>(maxTotalLength: number): BoundedCache<T> {
  // A Map iterates in insertion order: deleting and setting again moves an entry to the young end.
  const entries = new Map<string, T>();
  let totalLength = 0;
  return {
    getOrCreate(key, create) {
      if (key.length > maxTotalLength / 16) return create();
      const known = entries.get(key);
      if (known !== undefined) {
        entries.delete(key);
        entries.set(key, known);
        return known;
      }
      const created = create();
      entries.set(key, created);
      totalLength += key.length;
      for (const oldest of entries.keys()) {
        if (totalLength <= maxTotalLength) break;
        entries.delete(oldest);
        totalLength -= oldest.length;
      }
      return created;
    },
  };
}
