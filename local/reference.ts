/**
 * Browser bundle of Scalar, which renders the API reference. The package is not a dependency, because it would install
 * 270 others and only this file is used.
 */
import { createHash } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import { cachedProgram } from './packages/cached.ts';
import { fromNpm } from './packages/npm.ts';

/** Pinned version of the bundle: the integrity of the package's file, and the hash of the script in it. */
interface Pin {
  package: string;
  version: string;
  integrity: string;
  script: string;
}

const FOLDER = fileURLToPath(new URL('../api/operations/system/reference/', import.meta.url));
/** Path from which the API serves the bundle and a build copies it. */
const SCRIPT = join(FOLDER, 'scalar.js.br');
/** File with the reason why the bundle is missing. The API shows it in place of the reference. */
const REASON = join(FOLDER, 'scalar.missing.txt');

/**
 * Writes the pinned bundle, compressed, to the folder of the page that loads it, unless it is already there. The bundle
 * is fetched once per machine. The reason of a failure is stored in a file, which the page shows.
 * @throws PackageMismatchError when the download is not the pinned package
 * @throws Error with the reason when the registry does not answer
 */
export async function ensureReference(log: (line: string) => void): Promise<void> {
  const pin = JSON.parse(await readFile(join(FOLDER, 'scalar.json'), 'utf8')) as Pin;
  if (await isPinned(pin)) return;
  try {
    const cached = await cachedProgram(bundleOf(pin), { log });
    // Writes to a temporary name and renames the file, because the API may be reading it.
    const writing = `${SCRIPT}.${process.pid}`;
    await writeFile(writing, await readFile(cached));
    await rename(writing, SCRIPT);
    await rm(REASON, { force: true });
  } catch (error) {
    await writeFile(REASON, (error as Error).message);
    throw error;
  }
}

/** Returns true if the bundle in the folder of the page is the pinned one. */
async function isPinned({ script }: Pin): Promise<boolean> {
  try {
    return hashOf(await promisify(brotliDecompress)(await readFile(SCRIPT))) === script;
  } catch {
    // The bundle is missing or incomplete.
    return false;
  }
}

function bundleOf({ package: name, version, integrity, script }: Pin) {
  return fromNpm({
    label: 'API reference',
    name,
    version,
    program: 'scalar.js.br',
    isData: true,
    instead: 'Heron runs without it; /openapi.json is what it draws.',
    sha512: integrity.replace('sha512-', ''),
    async make(source, folder) {
      const text = await readFile(join(source, 'dist', 'browser', 'standalone.js'));
      if (hashOf(text) !== script) throw new Error(`scalar.json names the script ${script}; it is ${hashOf(text)}`);
      const params = { [constants.BROTLI_PARAM_SIZE_HINT]: text.length };
      await writeFile(join(folder, 'scalar.js.br'), await promisify(brotliCompress)(text, { params }));
    },
  });
}

function hashOf(bytes: Buffer): string {
  return `sha256-${createHash('sha256').update(bytes).digest('base64')}`;
}
