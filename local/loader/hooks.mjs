import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../', import.meta.url).href;
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

const CACHE = fileURLToPath(new URL('../../.heron/cache/modules/', import.meta.url));
/** Changes with the options below, so that what was kept with others is not used. */
const FORMAT = `1 ${process.version}`;

async function compile(file) {
  const text = readFileSync(file);
  const kept = join(CACHE, createHash('sha256').update(`${FORMAT}\n${file}\n`).update(text).digest('hex'));
  try {
    return readFileSync(kept);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  const { transform } = await import('esbuild');
  const { code } = await transform(text, {
    loader: 'ts',
    target: `node${process.versions.node}`,
    sourcefile: file,
    sourcemap: 'inline',
    sourcesContent: false,
  });
  mkdirSync(CACHE, { recursive: true });
  const writing = `${kept}.${process.pid}`;
  writeFileSync(writing, code);
  renameSync(writing, kept);
  return code;
}
