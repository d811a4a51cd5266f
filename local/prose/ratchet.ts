/** Number of findings by file path, relative to the project's root. */
export type Counts = Readonly<Record<string, number>>;

interface Difference {
  file: string;
  found: number;
  allowed: number;
}

/**
 * Returns files with more findings than allowed, and files whose allowed number must be lowered, including deleted
 * files.
 */
export function compare(counts: Counts, allowed: Counts): { above: Difference[]; below: Difference[] } {
  const files = [...new Set([...Object.keys(counts), ...Object.keys(allowed)])].toSorted();
  const all = files.map((file) => ({ file, found: counts[file] ?? 0, allowed: allowed[file] ?? 0 }));
  return {
    above: all.filter((one) => one.found > one.allowed),
    below: all.filter((one) => one.found < one.allowed),
  };
}

/**
 * Returns the new allowed numbers of findings by file: the lower of the actual and the allowed number. Omits files
 * without findings.
 */
export function lowered(counts: Counts, allowed: Counts): Counts {
  const entries = Object.keys(allowed)
    .toSorted()
    .map((file) => [file, Math.min(counts[file] ?? 0, allowed[file]!)] as const);
  return Object.fromEntries(entries.filter(([, count]) => count > 0));
}
