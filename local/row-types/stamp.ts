import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const STAMP = 'stamp.json';
/** What the row types are made from, below the project's root. */
const MIGRATIONS = 'db/migrations';
const SOURCES = [MIGRATIONS, 'db/columns.ts', 'local/row-types/generate.ts'];

/** Hashes (SHA-256) of what row types were made from, by file, and of what was made. */
interface Stamp {
  sources: Record<string, string>;
  types: string;
}

/** Writes beside freshly made row types what they were made from. */
export async function writeStamp(root: string, directory: string): Promise<void> {
  await writeFile(join(directory, STAMP), `${JSON.stringify(await currentStamp(root, directory), null, 2)}\n`);
}

/**
 * What makes the row types of a directory stale: sources that changed, came or went since they were made, or types that
 * were changed by hand. Empty when they are fresh. Needs no database, so the linter can afford it.
 */
export async function staleReasons(root: string, directory: string): Promise<string[]> {
  const made = JSON.parse(await readFile(join(directory, STAMP), 'utf8').catch(() => '{}')) as Partial<Stamp>;
  const now = await currentStamp(root, directory);
  const before = made.sources ?? {};
  const files = [...new Set([...Object.keys(before), ...Object.keys(now.sources)])].toSorted();
  return [
    ...files
      .filter((file) => before[file] !== now.sources[file])
      .map((file) => `${file} has changed since the row types were made`),
    ...(made.types === now.types ? [] : ['the row types are not what was made']),
  ];
}

async function currentStamp(root: string, directory: string): Promise<Stamp> {
  const sources: Record<string, string> = {};
  for (const source of SOURCES)
    for (const file of source.endsWith('.ts') ? [source] : await typescriptIn(root, source))
      sources[file] = await hashFiles([join(root, file)]);
  const types = (await typescriptIn(directory, '.')).map((file) => join(directory, file));
  return { sources, types: await hashFiles(types) };
}

async function typescriptIn(root: string, folder: string): Promise<string[]> {
  const names = await readdir(join(root, folder)).catch(() => []);
  return names
    .filter(
      (name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !(folder === MIGRATIONS && name === 'index.ts'),
    )
    .toSorted()
    .map((name) => join(folder, name));
}

/** Line ends count as one: a checkout may have turned them. */
async function hashFiles(files: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const file of files) hash.update((await readFile(file, 'utf8')).replaceAll('\r\n', '\n')).update('\0');
  return hash.digest('hex').slice(0, 16);
}
