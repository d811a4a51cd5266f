/**
 * `npm run build`: compiles what production runs to dist/, bundles the workflows beside it, and tries the result.
 */
import { execFile } from 'node:child_process';
import { copyFile, cp, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { createLogger } from '../lib/log.ts';
import { buildDashboard } from '../web/build.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');
const HERON = join(DIST, 'deploy', 'heron.js');
const MAX_OUTPUT = 64 * 1024 * 1024;

try {
  await rm(DIST, { recursive: true, force: true });
  await step('compile', compile);
  await step('build the dashboard', dashboard);
  await step('copy data', copyData);
  await step('bundle workflows', bundle);
  await step('try `heron openapi`', tryOut);
} catch (error) {
  const { stdout = '', stderr = '', message } = error as { stdout?: string; stderr?: string; message: string };
  console.error(`The build failed: ${message}\n${stdout}${stderr}`);
  process.exitCode = 1;
}

async function step(name: string, work: () => Promise<string>): Promise<void> {
  const startedAt = performance.now();
  const result = await work();
  console.log(`${name}: ${result} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`);
}

async function compile(): Promise<string> {
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  await run(process.execPath, [compiler, '-p', join(ROOT, 'tsconfig.build.json')], { cwd: ROOT });
  return DIST;
}

/** What compiled code reads beside itself. */
async function copyData(): Promise<string> {
  const files = ['api/http/examples.json', 'api/system/reference/scalar.js.br'];
  for (const file of files) await copyFile(join(ROOT, file), join(DIST, file));
  return files.join(', ');
}

/** Where the compiled API looks for it: beside itself. */
async function dashboard(): Promise<string> {
  const built = await buildDashboard();
  const place = join(DIST, 'web', 'dist');
  await cp(built, place, { recursive: true });
  return place;
}

/** With the compiled bundler, over the compiled workflows, as a worker of this build would do. */
async function bundle(): Promise<string> {
  const { BUILT_BUNDLE, bundleWorkflows } = (await import(
    pathToFileURL(join(DIST, 'workers', 'bundle.js')).href
  )) as typeof import('../workers/bundle.ts');
  await writeFile(BUILT_BUNDLE, await bundleWorkflows(createLogger({ level: 'warn', service: 'build' })));
  return `${BUILT_BUNDLE}, ${Math.round((await stat(BUILT_BUNDLE)).size / 1024)} KiB`;
}

async function tryOut(): Promise<string> {
  const { stdout } = await run(process.execPath, [HERON, 'openapi'], { cwd: DIST, maxBuffer: MAX_OUTPUT });
  const { paths } = JSON.parse(stdout) as { paths: object };
  return `${Object.keys(paths).length} paths`;
}
