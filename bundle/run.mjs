/**
 * Runs a TypeScript entry point: `node bundle/run.mjs deploy/heron.ts api`. Bundles it first when its sources have
 * changed. A thread names its entry point by the first element of `argv`.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundleEntries } from './entries.mjs';

const [, , entry] = process.argv;
if (!entry) throw new Error('run.mjs needs the TypeScript file to run');
const source = resolve(entry);
const { fileOf } = await bundleEntries([source]);
// The program sees the arguments that it would see if Node ran its source.
process.argv.splice(1, 2, source);
process.noDeprecation ||= true;
process.setSourceMapsEnabled(true);
await import(pathToFileURL(fileOf(source)).href);
