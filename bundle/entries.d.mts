export function bundleEntries(
  entries: readonly (string | URL)[],
): Promise<{ folder: string; fileOf: (entry: string | URL) => string }>;
export function bundleForProduction(entries: readonly string[], outdir: string): Promise<void>;
