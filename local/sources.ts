import { readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';

const NOT_OURS = new Set(['node_modules', 'dist', 'coverage', '.git', '.heron']);

/**
 * Returns the paths of files below a folder with one of the `extensions` (such as `.ts`), without installed and built
 * files.
 */
export async function filesBelow(folder: string, extensions: ReadonlySet<string>): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const nested = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return NOT_OURS.has(entry.name) ? [] : filesBelow(path, extensions);
      return extensions.has(extname(entry.name)) ? [path] : [];
    }),
  );
  return nested.flat();
}
