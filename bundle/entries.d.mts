export function bundleEntries(
  entries: readonly (string | URL)[],
  replaced?: Readonly<Record<string, string>>,
): Promise<{ folder: string; fileOf: (entry: string | URL) => string }>;
export function bundleForProduction(entries: readonly string[], outdir: string): Promise<void>;
