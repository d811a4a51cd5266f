import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CACHE, removeUnused, renameUnlessMade, ROOT } from './cache.mjs';

/*
 * Heron's packages consist of more than two thousand small files, which take longer to load than most commands run.
 * They are joined into a few files, once for each set of versions.
 */

/** Packages that are not bundled, because they have native code, start threads from files, or hook into modules. */
const APART = [
  '@temporalio/*',
  '@opentelemetry/*',
  '@node-rs/*',
  'pino',
  // Drivers of knex for other databases. None of them is installed.
  'better-sqlite3',
  'mariadb',
  'mariadb/callback',
  'mysql',
  'mysql2',
  'oracledb',
  'pg-native',
  'pg-query-stream',
  'sqlite3',
  'tedious',
];
/**
 * Large CommonJS packages that are joined as well. If an ES module imported them, Node would search their text for the
 * names of their exports. So a joined file lists the names and requires the packages.
 */
const REQUIRED = ['@temporalio/*'];
/** Test packages that are worth joining. Few processes load the other development dependencies. */
const OF_TESTS = ['ajv', 'ajv-formats', 'fast-check'];
/** Folders whose sources are bundled. */
const FOLDERS =
  'activities api bench client/src db deploy domain examples lib local temporal test workers workflows'.split(' ');

const JOINED = join(CACHE, 'packages');
const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const NAMES = new Set(
  [...Object.keys(dependencies), ...OF_TESTS].filter((name) => !isIn(APART, name) || isIn(REQUIRED, name)),
);

/**
 * Returns true if an import is served from a joined file. @param {string} specifier e.g. `zod` or `csv-parse/sync`
 */
export function isJoined(specifier) {
  return NAMES.has(packageName(specifier));
}

/** Returns true if Node finds a package from the project's folder. */
export function isInstalled(specifier) {
  const name = packageName(specifier);
  return name === '' || existsSync(join(ROOT, 'node_modules', name));
}

/** Returns the name of the joined file of a specifier. */
export function joinedFile(specifier) {
  return `${specifier.replaceAll(/\W+/g, '-')}.mjs`;
}

/**
 * Joins the packages imported by the project's sources, unless that was done before (about 3 s). Each specifier becomes
 * a module with the same exports. Code shared by two of them is in a separate file, so that nothing exists twice.
 * @param {Iterable<string>} needed specifiers that must be included
 * @returns {Promise<string>} folder of the joined files
 */
export async function joinPackages(needed) {
  const specifiers = [...new Set([...needed, ...importedSpecifiers()])].sort();
  const installed = readFileSync(join(ROOT, 'node_modules/.package-lock.json'));
  const hash = createHash('sha256').update(process.version).update(installed).update(specifiers.join('\n'));
  hash.update(readFileSync(fileURLToPath(import.meta.url)));
  const folder = join(JOINED, hash.digest('hex').slice(0, 20));
  if (!existsSync(folder)) await makeJoined(folder, specifiers);
  return folder;
}

async function makeJoined(folder, specifiers) {
  const { build } = await import('esbuild');
  mkdirSync(JOINED, { recursive: true });
  removeUnused(JOINED);
  // The folder is inside the project, so that packages that are not joined are found from it.
  const making = mkdtempSync(`${folder}.`);
  try {
    const entries = {};
    for (const specifier of specifiers) {
      const entry = join(making, `entry-${joinedFile(specifier)}`);
      writeFileSync(entry, await reexport(specifier));
      entries[joinedFile(specifier).replace(/\.mjs$/, '')] = entry;
    }
    const out = join(making, 'out');
    mkdirSync(out);
    await build({
      entryPoints: entries,
      outdir: out,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      splitting: true,
      minifyWhitespace: true,
      legalComments: 'none',
      format: 'esm',
      platform: 'node',
      target: `node${process.versions.node}`,
      external: APART,
      banner: { js: `import{createRequire}from'node:module';const require=createRequire(import.meta.url);` },
      logLevel: 'error',
    });
    renameUnlessMade(out, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

/**
 * Returns a module with the exports that Node reports for a package. For CommonJS, esbuild would otherwise guess them
 * from the text.
 */
async function reexport(specifier) {
  const shown = Object.keys(await import(specifier));
  const names = shown.filter((name) => name !== 'default' && /^[\w$]+$/.test(name));
  const from = JSON.stringify(specifier);
  const isRequired = isIn(REQUIRED, packageName(specifier));
  const lines = [isRequired ? `const all = require(${from});` : `import * as all from ${from};`];
  for (const [index, name] of names.entries()) lines.push(`const e${index} = all.${name};`);
  lines.push(`export { ${names.map((name, index) => `e${index} as ${name}`).join(', ')} };`);
  if (shown.includes('default')) lines.push(`export default ${isRequired ? 'all' : 'all.default'};`);
  return lines.join('\n');
}

/** Lists all imports of joined packages in the sources, so that every bundle shares one set of joined files. */
function importedSpecifiers() {
  const found = new Set();
  for (const folder of FOLDERS.filter((name) => existsSync(join(ROOT, name))))
    for (const name of readdirSync(join(ROOT, folder), { recursive: true })) {
      if (!name.endsWith('.ts') || name.includes('node_modules')) continue;
      const text = readFileSync(join(ROOT, folder, name), 'utf8');
      for (const [, specifier] of text.matchAll(/^(?:import|export|\} from|.*\bimport\()[^'\n]*'([^./'][^']*)'/gm))
        if (isJoined(specifier)) found.add(specifier);
    }
  return found;
}

function isIn(patterns, name) {
  return patterns.some((pattern) =>
    pattern.endsWith('/*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  );
}

function packageName(specifier) {
  if (specifier.startsWith('node:') || builtinModules.includes(specifier)) return '';
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
