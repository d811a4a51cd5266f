import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { CACHE, keptFile, ROOT } from './kept.mjs';

/** Specifier to URL of its joined file. */
let joined = {};
/** Where the modules of a test run are joined (project.mjs), with a slash at its end; undefined outside of one. */
let project;
/** URL to what stands in the joined files for it; empty until a test file is loaded that needs most of them. */
let modules = {};

/** Takes what `register` gives to the thread of the hooks. */
export function initialize(given) {
  joined = given.packages;
  project = given.project && pathToFileURL(`${given.project}/`).href;
}

/** Files of the project name the file they import, and take packages that were joined from there. */
export async function resolve(specifier, context, next) {
  const from = context.parentURL;
  if (from?.startsWith(ROOT) && !from.includes('/node_modules/') && !from.includes('/.heron/')) {
    if (specifier.startsWith('.') && specifier.endsWith('.ts')) {
      return { url: new URL(specifier, from).href, format: 'module', shortCircuit: true };
    }
    if (Object.hasOwn(joined, specifier)) return { url: joined[specifier], format: 'module', shortCircuit: true };
  }
  return next(specifier, context);
}

/**
 * Loads TypeScript. Every import here names a file, so nothing is left to do but to remove the types; what was compiled once is
 * kept by a hash of its text. A process imports several hundred modules, for which a general loader takes twice as long.
 */
export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
  if (project && url.endsWith('.test.ts')) useJoined(fileURLToPath(url));
  const source = Object.hasOwn(modules, url) ? reexport(modules[url]) : await compile(fileURLToPath(url));
  return { format: 'module', shortCircuit: true, source };
}

/** Decides, before anything that a test file imports is loaded, which modules of this process are the joined ones. */
function useJoined(file) {
  const roots = rootsOf(file);
  if (roots.size === 0) return;
  const known = Object.entries(JSON.parse(readFileSync(new URL('modules.json', project), 'utf8')));
  modules = Object.fromEntries(known.filter(([, { root }]) => root === 'world' || roots.has(root)));
}

/** Which of world and engine a test file imports, by itself or by what it imports of test/. */
function rootsOf(file, seen = new Set(), roots = new Set()) {
  seen.add(file);
  const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export) (?!type )[^;]*?from '(\.[^']*\.ts)';/gm);
  for (const [, specifier] of imports) {
    const imported = fileURLToPath(new URL(specifier, pathToFileURL(file)));
    const root = /[\\/]test[\\/]harness[\\/](world|engine)\.ts$/.exec(imported)?.[1];
    if (root) roots.add(root);
    else if (/[\\/]test[\\/]/.test(imported) && !seen.has(imported)) rootsOf(imported, seen, roots);
  }
  return roots;
}

/** A module that has the exports of a joined one. */
function reexport({ root, name, names }) {
  const lines = names.map((exported) => `export const ${exported} = all.${exported};`);
  return [`import { ${name} as all } from '${project}${root}.mjs';`, ...lines]
    .join('\n')
    .replace('export const default =', 'export default');
}

async function compile(file) {
  const text = readFileSync(file);
  const kept = keptFile(file, text);
  try {
    return readFileSync(kept);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  const { transform } = await import('esbuild');
  const { code, map } = await transform(text, {
    loader: 'ts',
    target: `node${process.versions.node}`,
    sourcefile: file,
    sourcemap: 'external',
    sourcesContent: false,
  });
  mkdirSync(CACHE, { recursive: true });
  // The map comes first: whoever finds the code finds its map.
  for (const [path, content] of [
    [`${kept}.map`, map],
    [kept, code],
  ]) {
    const writing = `${path}.${process.pid}`;
    writeFileSync(writing, content);
    renameSync(writing, path);
  }
  return code;
}
