/**
 * `npm run client`: writes src/schema.ts, the types of every endpoint, from the API's own OpenAPI document. The file is
 * not in git. Its first line contains a key of its sources. If the key is unchanged, nothing is generated.
 */
import { execFile } from 'node:child_process';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundleEntries } from '../bundle/entries.mjs';
import { typesOf, type ApiDocument } from './types.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FILE = fileURLToPath(new URL('src/schema.ts', import.meta.url));
const MAX_OUTPUT = 64 * 1024 * 1024;

const firstLine = `// Made by \`npm run client\` from the sources ${await sourcesKey()}; not in git.\n`;
if (!(await readFile(FILE, 'utf8').catch(() => '')).startsWith(firstLine)) {
  const { stdout } = await promisify(execFile)(process.execPath, ['bundle/run.mjs', 'deploy/heron.ts', 'openapi'], {
    cwd: ROOT,
    maxBuffer: MAX_OUTPUT,
  });
  const text = await typesOf(JSON.parse(stdout) as ApiDocument);
  // Writes to another path and renames the file, so that a concurrent compiler reads either the old file or the new
  // one.
  const writing = join(ROOT, '.heron', 'cache', `client-types.${process.pid}`);
  await writeFile(writing, firstLine + text);
  await rename(writing, FILE);
  process.stdout.write('client/src/schema.ts is written.\n');
}

/**
 * Returns a key of the sources of the API's document and of this program. It consists of the names of their bundles,
 * which depend on their content.
 */
async function sourcesKey(): Promise<string> {
  const bundles = await Promise.all(
    ['../deploy/heron.ts', 'generate.ts'].map((path) => bundleEntries([new URL(path, import.meta.url)])),
  );
  return bundles.map(({ folder }) => basename(folder)).join(' ');
}
