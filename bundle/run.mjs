/**
 * Runs a TypeScript entry point: `node bundle/run.mjs deploy/heron.ts api`. Bundles it first if its sources have
 * changed. For a worker thread, the first element of `argv` names the entry point.
 */
import module from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CACHE } from './cache.mjs';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`Heron needs Node 20.19 or later; this is ${process.version}.\n`);
  process.exit(1);
}

const { bundleEntries } = await import('./entries.mjs');
const [, , entry] = process.argv;
if (!entry) throw new Error('run.mjs needs the TypeScript file to run');
const source = resolve(entry);
const { fileOf } = await bundleEntries([source]);
// Sets the arguments that the program would have if Node ran its source directly.
process.argv.splice(1, 2, source);
process.noDeprecation ||= true;
process.setSourceMapsEnabled(true);
// Caches V8's compiled code (Node 22.8 or later).
module.enableCompileCache?.(join(CACHE, 'v8'));
await import(pathToFileURL(fileOf(source)).href);
