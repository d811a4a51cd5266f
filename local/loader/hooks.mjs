import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CACHE, keptFile, ROOT } from './kept.mjs';

/** Specifier to URL of its joined file. */
let joined = {};

/** Takes what `register` gives to the thread of the hooks. */
export function initialize(packages) {
  joined = packages;
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
  return { format: 'module', shortCircuit: true, source: await compile(fileURLToPath(url)) };
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
