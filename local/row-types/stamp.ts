import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Files from which the row types are generated, relative to the project's root. */
const SOURCES = ['db/migrations', 'db/columns.ts', 'local/row-types/generate.ts'];
const STAMP =
  /^\/\* Written by `npm run db:types`; do not edit\. Sources: ([0-9a-f]{16})\. Types: ([0-9a-f]{16})\. \*\/\n\n/;

/** Writes a stamp above new row types: the hashes of the sources and of the types themselves. */
export async function writeStamp(root: string, file: string): Promise<void> {
  const types = await readText(file);
  const stamp = `/* Written by \`npm run db:types\`; do not edit. Sources: ${await hashSources(root)}. Types: ${hash([types])}. */`;
  await writeFile(file, `${stamp}\n\n${types}`);
}

/** Returns the row types without the stamp. */
export function withoutStamp(source: string): string {
  return source.replace(STAMP, '');
}

/**
 * Returns the reasons why the row types of a file are stale: changed sources, or types changed by hand. Empty if the
 * types are current. Needs no database, so the linter can run it.
 */
export async function staleReasons(root: string, file: string): Promise<string[]> {
  const source = await readText(file).catch(() => '');
  const [, sources, types] = STAMP.exec(source) ?? [];
  return [
    ...(sources === (await hashSources(root)) ? [] : [`${SOURCES.join(', ')}: changed since the row types were made`]),
    ...(types === hash([withoutStamp(source)]) ? [] : ['the row types are not what was made']),
  ];
}

async function hashSources(root: string): Promise<string> {
  const files = (await Promise.all(SOURCES.map((source) => typescriptIn(root, source)))).flat();
  return hash(await Promise.all(files.map((file) => readText(join(root, file)))));
}

async function typescriptIn(root: string, source: string): Promise<string[]> {
  if (source.endsWith('.ts')) return [source];
  const names = await readdir(join(root, source), { recursive: true });
  return names
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .toSorted()
    .map((name) => join(source, name));
}

/** Reads a file with normalized line ends, because a checkout may have converted them. */
async function readText(file: string): Promise<string> {
  return (await readFile(file, 'utf8')).replaceAll('\r\n', '\n');
}

/** Returns a shortened SHA-256. */
function hash(texts: readonly string[]): string {
  const sum = createHash('sha256');
  for (const text of texts) sum.update(text).update('\0');
  return sum.digest('hex').slice(0, 16);
}
