import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { CACHE, keepUsed, removeUnused, renameUnlessMade, ROOT } from './cache.mjs';
import { isInstalled, isJoined, joinedFile, joinPackages } from './packages.mjs';

const BUNDLES = join(CACHE, 'bundles');
/** Path of the link, in each bundle, to the folder of the joined packages. */
const LINK = join('node_modules', 'joined');
/** Files other than the sources that determine the content of a bundle. */
const MAKERS = ['node_modules/.package-lock.json', 'bundle/entries.mjs', 'bundle/packages.mjs'];

/**
 * Bundles TypeScript entry points with esbuild, unless a bundle of the same sources is cached. Modules shared by
 * several entry points become one chunk. Packages are imported from {@link joinPackages}, once for all bundles.
 * @param {string[]} entries paths of the sources
 * @param {Record<string, string>} replaced source that replaces a package, by package name, in all modules but itself
 * @returns {Promise<{ folder: string, fileOf: (entry: string) => string }>} folder of the bundle, and the file of an
 * entry point in it
 */
export async function bundleEntries(entries, replaced = {}) {
  const paths = entries.map(toProjectPath).sort();
  const record = join(BUNDLES, `${digest([process.version, JSON.stringify(replaced), ...paths])}.json`);
  const folder = findFresh(record) ?? (await makeBundle(paths, replaced, record));
  keepUsed(folder, join(folder, LINK));
  return { folder, fileOf: (entry) => join(folder, toProjectPath(entry).replace(/\.ts$/, '.mjs')) };
}

/** Returns the cached bundle if each of its sources has the same size and modification time as before. */
function findFresh(record) {
  try {
    const { folder, stamps } = JSON.parse(readFileSync(record, 'utf8'));
    // Follows the link, because the joined packages may be deleted while a bundle that needs them still exists.
    if (!existsSync(join(folder, LINK)) || stamps.some(([path, stamp]) => stampOf(path) !== stamp)) return undefined;
    return folder;
  } catch (error) {
    // No bundle exists yet, or a source was deleted.
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function makeBundle(paths, replaced, record) {
  const startedAt = Date.now();
  mkdirSync(BUNDLES, { recursive: true });
  removeUnused(BUNDLES);
  // The folder is on the same file system as the final path, so that it can be renamed to it.
  const making = mkdtempSync(join(BUNDLES, 'making-'));
  try {
    const { sources, specifiers } = await build(paths, replaced, making);
    const joined = await joinPackages(specifiers);
    mkdirSync(join(making, 'node_modules'));
    symlinkSync(joined, join(making, LINK), 'dir');
    const read = [...MAKERS, ...sources];
    const texts = read.flatMap((path) => [path, readFileSync(join(ROOT, path))]);
    const folder = join(BUNDLES, digest([record, joined, ...texts]));
    // Another process may have created an identical bundle before.
    renameUnlessMade(making, folder);
    // If a source changed in the meantime, the bundle may be outdated: it is not recorded, so that the next process
    // bundles again.
    if (read.every((path) => statSync(join(ROOT, path)).mtimeMs < startedAt))
      writeWhole(record, JSON.stringify({ folder, stamps: read.map((path) => [path, stampOf(path)]) }));
    return folder;
  } finally {
    rmSync(making, { recursive: true, force: true });
    // Stops esbuild's service process, which would otherwise run as long as this process.
    await (await import('esbuild')).stop();
  }
}

/**
 * Bundles entry points for production: all files into one folder, with packages loaded from node_modules.
 * @param {string[]} entries paths of the sources
 * @param {string} outdir folder that corresponds to a subfolder of the project, where modules look for data files of
 * the sources
 */
export async function bundleForProduction(entries, outdir) {
  const sourceUrl = (path) => `new URL("../${path.replace(/\.ts$/, '.js')}", import.meta.url).href`;
  await esbuild(entries.map(toProjectPath), outdir, {
    entryNames: '[name]',
    chunkNames: '[name]-[hash]',
    target: 'node20.19',
    packages: 'external',
    plugins: [sourceUrls(sourceUrl)],
  });
}

/** Bundles the entry points. Returns the sources read and the specifiers of the joined packages that they import. */
async function build(paths, replaced, outdir) {
  const specifiers = new Set();
  const { metafile } = await esbuild(paths, outdir, {
    outbase: '.',
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunks/[hash]',
    target: `node${process.versions.node}`,
    plugins: [
      replacePackages(replaced),
      externalPackages(specifiers),
      sourceUrls((path) => JSON.stringify(pathToFileURL(join(ROOT, path)).href)),
    ],
  });
  return { sources: Object.keys(metafile.inputs).sort(), specifiers };
}

async function esbuild(entryPoints, outdir, options) {
  const { build: run } = await import('esbuild');
  return run({
    entryPoints,
    absWorkingDir: ROOT,
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    sourcemap: 'linked',
    sourcesContent: false,
    metafile: true,
    logLevel: 'error',
    ...options,
  });
}

/** Replaces a package by a source of the project in all modules except that source, which imports the package. */
function replacePackages(replaced) {
  return {
    name: 'replaced-packages',
    setup({ onResolve }) {
      for (const [name, source] of Object.entries(replaced)) {
        const path = join(ROOT, source);
        onResolve({ filter: new RegExp(`^${name}$`) }, ({ importer }) => (importer === path ? undefined : { path }));
      }
    },
  };
}

/** Marks a resolution that the plugin itself has requested from esbuild, so that the plugin ignores it. */
const FOUND = Symbol('found');

/** Excludes packages from the bundle, and imports joined packages from their joined files. */
function externalPackages(specifiers) {
  return {
    name: 'external-packages',
    setup({ onResolve, resolve: find }) {
      // The bundler is plain JavaScript. Bundled programs that use it import it from its own path.
      onResolve({ filter: /^\..*\.mjs$/ }, ({ path, resolveDir }) => ({
        path: resolve(resolveDir, path),
        external: true,
      }));
      onResolve({ filter: /^[^./]/ }, async ({ path, kind, resolveDir, pluginData }) => {
        if (kind === 'entry-point' || pluginData === FOUND) return undefined;
        if (isJoined(path)) {
          specifiers.add(path);
          return { path: `joined/${joinedFile(path)}`, external: true };
        }
        if (isInstalled(path)) return { path, external: true };
        // Resolves from the importing folder, because packages of a workspace (client, web) are found only from there.
        const { path: file, errors } = await find(path, { resolveDir, kind, pluginData: FOUND });
        return errors.length > 0 ? { errors } : { path: file, external: true };
      });
    },
  };
}

/**
 * Sets `import.meta.url` of each module to the URL of its source, so that it finds the files beside it. The replacement
 * is textual and also changes strings with these words.
 * @param {(path: string) => string} urlOf returns an expression for the URL of a source, by its path in the project
 */
function sourceUrls(urlOf) {
  return {
    name: 'source-urls',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const text = readFileSync(path, 'utf8');
        return { contents: text.replaceAll('import.meta.url', urlOf(relative(ROOT, path))), loader: 'ts' };
      });
    },
  };
}

function writeWhole(file, text) {
  const writing = `${file}.${process.pid}`;
  writeFileSync(writing, text);
  renameSync(writing, file);
}

function stampOf(path) {
  const { size, mtimeMs } = statSync(join(ROOT, path));
  return `${size} ${mtimeMs}`;
}

function toProjectPath(entry) {
  const path = entry instanceof URL || entry.startsWith('file:') ? fileURLToPath(entry) : resolve(entry);
  return relative(ROOT, path);
}

function digest(parts) {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\n');
  return hash.digest('hex').slice(0, 20);
}
