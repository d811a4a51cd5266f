/**
 * Builds the dashboard into web/dist, with compressed copies of what compresses. `ensureDashboard` builds only when a source changed since
 * the last time, so that starting from source costs nothing the second time.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const WEB = fileURLToPath(new URL('.', import.meta.url));
const DIST = join(WEB, 'dist');
const STAMP = join(DIST, '.stamp');
const SOURCES = [
  'web/build.ts',
  'web/src',
  'web/public',
  'web/index.html',
  'web/vite.config.ts',
  'web/package.json',
  'client/src',
];
const COMPRESSIBLE = new Set(['.js', '.css', '.svg', '.json']);

/** Builds the dashboard; the answer says where it is. */
export async function buildDashboard(): Promise<string> {
  const { build } = await import('vite');
  const stamp = await stampOfSources();
  const { NODE_ENV } = process.env;
  // React is another one in tests and development, whoever asks for the build.
  process.env.NODE_ENV = 'production';
  await build({ configFile: join(WEB, 'vite.config.ts'), logLevel: 'warn' }).finally(() => {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = NODE_ENV;
  });
  await compress();
  await writeFile(STAMP, stamp);
  return DIST;
}

/** Builds the dashboard unless the build is of these sources. @returns whether it was built */
export async function ensureDashboard(): Promise<boolean> {
  if (existsSync(STAMP) && (await readFile(STAMP, 'utf8')) === (await stampOfSources())) return false;
  await buildDashboard();
  return true;
}

async function compress(): Promise<void> {
  const names = (await readdir(DIST, { recursive: true })).filter((name) => COMPRESSIBLE.has(extname(name)));
  await Promise.all(
    names.map(async (name) => {
      const bytes = await readFile(join(DIST, name));
      const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
      await writeFile(join(DIST, `${name}.br`), await promisify(brotliCompress)(bytes, { params }));
      await writeFile(join(DIST, `${name}.gz`), await promisify(gzip)(bytes, { level: 9 }));
    }),
  );
}

async function stampOfSources(): Promise<string> {
  const root = join(WEB, '..');
  const hash = createHash('sha256');
  for (const source of SOURCES) {
    const path = join(root, source);
    const names = extname(source) === '' ? await readdir(path, { recursive: true, withFileTypes: true }) : [];
    const files =
      extname(source) === ''
        ? names.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))
        : [path];
    for (const file of files.toSorted()) hash.update(file.slice(root.length)).update(await readFile(file));
  }
  return hash.digest('hex');
}
