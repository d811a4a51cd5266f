import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleEntries } from '../../bundle/entries.mjs';
import { planGroups } from './plan.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CACHE = join(ROOT, '.heron', 'cache');
/** Module that replaces ava in bundled tests. */
const DECLARE = 'test/groups/declare.ts';

/** Folder of generated test files for ava, each of which runs one group. */
export interface TestGroups {
  folder: string;
  /** Deletes the folder. */
  close(): void;
}

/**
 * Bundles test files, and writes a file for ava for each group of them.
 * @param seconds time (s) of each file in an earlier run
 * @param processes number of processes that run groups at the same time
 */
export async function bundleGroups(
  files: readonly string[],
  seconds: Record<string, number>,
  processes: number,
): Promise<TestGroups> {
  const { fileOf } = await bundleEntries(
    [...files, DECLARE].map((file) => join(ROOT, file)),
    { ava: DECLARE },
  );
  const urlOf = (file: string): string => JSON.stringify(pathToFileURL(fileOf(join(ROOT, file))).href);
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'groups-'));
  planGroups(files, seconds, processes).forEach((group, index) => {
    const chosen = group.map((file) => {
      const name = JSON.stringify(file.replace(/\.test\.ts$/, ''));
      return `  { name: ${name}, load: () => import(${urlOf(file)}) },`;
    });
    const text = [
      `import module from 'node:module';`,
      // `enableCompileCache` exists since Node 22.8.
      `module.enableCompileCache?.(${JSON.stringify(join(CACHE, 'v8'))});`,
      `const { declareFiles } = await import(${urlOf(DECLARE)});`,
      `await declareFiles([`,
      ...chosen,
      `]);\n`,
    ];
    writeFileSync(join(folder, `${String(index + 1).padStart(3, '0')}.test.mjs`), text.join('\n'));
  });
  return { folder, close: () => rmSync(folder, { recursive: true, force: true }) };
}
