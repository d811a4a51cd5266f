/** `npm run build`: bundles the production code into dist/, with its data and the workflows, and tests the result. */
import { execFile } from 'node:child_process';
import { cp, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createLogger } from '../lib/log.ts';
import { bundleForProduction } from '../bundle/entries.mjs';
import { buildDashboard } from '../web/build.ts';
import { bundleWorkflows } from '../workers/bundle.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');
const HERON = join(DIST, 'deploy', 'heron.js');
const MAX_OUTPUT = 64 * 1024 * 1024;

try {
  await rm(DIST, { recursive: true, force: true });
  await step('bundle', bundle);
  await step('build the dashboard', dashboard);
  await step('copy data', copyData);
  await step('bundle workflows', workflows);
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

/** Bundles the command line and the modules that it runs in threads. */
async function bundle(): Promise<string> {
  const entries = ['deploy/heron.ts', 'domain/audience/imports/inspect-thread.ts'];
  await bundleForProduction(
    entries.map((path) => join(ROOT, path)),
    dirname(HERON),
  );
  return dirname(HERON);
}

/** Copies the files and folders that modules read from the folders of their sources. */
async function copyData(): Promise<string> {
  const files = [
    'api/http/examples.json',
    'domain/mail/reading/model.bin.br',
    'domain/mail/reading/names.bin.br',
    'domain/mail/reading/languages.json',
    'domain/mail/reading/dates',
    'api/operations/system/reference/scalar.js.br',
  ];
  for (const file of files) {
    await mkdir(dirname(join(DIST, file)), { recursive: true });
    await cp(join(ROOT, file), join(DIST, file), { recursive: true });
  }
  return files.join(', ');
}

/** Copies the dashboard to the place where the compiled API reads it. */
async function dashboard(): Promise<string> {
  const built = await buildDashboard();
  const place = join(DIST, 'web', 'dist');
  await cp(built, place, { recursive: true });
  return place;
}

async function workflows(): Promise<string> {
  const file = join(DIST, 'workers', 'workflow-bundle.js');
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, await bundleWorkflows(createLogger({ level: 'warn', service: 'build' })));
  return `${file}, ${Math.round((await stat(file)).size / 1024)} KiB`;
}

async function tryOut(): Promise<string> {
  const { stdout } = await run(process.execPath, [HERON, 'openapi'], { cwd: DIST, maxBuffer: MAX_OUTPUT });
  const { paths } = JSON.parse(stdout) as { paths: object };
  return `${Object.keys(paths).length} paths`;
}
