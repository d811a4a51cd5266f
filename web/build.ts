/**
 * Builds the dashboard into web/dist, with compressed copies. `ensureDashboard` builds only if a source has changed
 * since the last build, so later starts from source need no build.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { withFileLock } from '../lib/file-lock.ts';

const WEB = fileURLToPath(new URL('.', import.meta.url));
const ROOT = join(WEB, '..');
const DIST = join(WEB, 'dist');
const STAMP = '.stamp';
/** Lock held by the building process. Other callers wait for its result. */
const LOCK = join(ROOT, '.heron', 'dashboard.lock');
const SOURCES = [
  'web/build.ts',
  'web/icons.ts',
  'web/sentences.ts',
  'web/src',
  'web/public',
  'web/index.html',
  'web/vite.config.ts',
  'web/package.json',
  'client/src',
  'messages',
];
const COMPRESSIBLE = new Set(['.js', '.css', '.svg', '.json']);
const CLIENT_TYPES = join(ROOT, 'client', 'src', 'schema.ts');

/** Builds the dashboard and returns the folder. Only one process builds at a time. */
export async function buildDashboard(): Promise<string> {
  await withFileLock(LOCK, () => undefined, build);
  return DIST;
}

/**
 * Builds the dashboard unless the existing build matches the sources.
 * @returns true if this process built it
 */
export async function ensureDashboard(): Promise<boolean> {
  if (await isDashboardFresh()) return false;
  return withFileLock(
    LOCK,
    () => undefined,
    async () => {
      // Another process has just built the dashboard.
      if (await isDashboardFresh()) return false;
      await build();
      return true;
    },
  );
}

/** Returns true if the build matches the current sources. */
export async function isDashboardFresh(): Promise<boolean> {
  const stamp = await readFile(join(DIST, STAMP), 'utf8').catch(() => undefined);
  return stamp !== undefined && stamp === (await stampOfSources());
}

/** Builds beside the existing build and then replaces it, so that no partial build is served. */
async function build(): Promise<void> {
  const stamp = await stampOfSources();
  const made = join(ROOT, '.heron', `dashboard-${process.pid}`);
  await bundleDashboard(WEB, made);
  await compress(made);
  await writeFile(join(made, STAMP), stamp);
  const last = `${made}-last`;
  if (existsSync(DIST)) await rename(DIST, last);
  await rename(made, DIST);
  await rm(last, { recursive: true, force: true });
}

/**
 * Bundles a dashboard into a folder, which it empties first.
 * @param sources the folder with its `vite.config.ts`
 */
export async function bundleDashboard(sources: string, folder: string): Promise<void> {
  const { build: bundle } = await import('vite');
  const { NODE_ENV } = process.env;
  // Selects React's production build, regardless of the caller's environment.
  process.env.NODE_ENV = 'production';
  await bundle({
    configFile: join(sources, 'vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: folder, emptyOutDir: true },
  }).finally(() => {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = NODE_ENV;
  });
}

async function compress(folder: string): Promise<void> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => COMPRESSIBLE.has(extname(name)));
  await Promise.all(
    names.map(async (name) => {
      const bytes = await readFile(join(folder, name));
      const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
      await writeFile(join(folder, `${name}.br`), await promisify(brotliCompress)(bytes, { params }));
      await writeFile(join(folder, `${name}.gz`), await promisify(gzip)(bytes, { level: 9 }));
    }),
  );
}

async function stampOfSources(): Promise<string> {
  const hash = createHash('sha256');
  for (const source of SOURCES) {
    const path = join(ROOT, source);
    const names = extname(source) === '' ? await readdir(path, { recursive: true, withFileTypes: true }) : [];
    const files =
      extname(source) === ''
        ? names.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))
        : [path];
    // Skips the types of the client: the file is generated for the compiler and does not change the build.
    for (const file of files.filter((one) => one !== CLIENT_TYPES).toSorted())
      hash.update(file.slice(ROOT.length)).update(await readFile(file));
  }
  return hash.digest('hex');
}
