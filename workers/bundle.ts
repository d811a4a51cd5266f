import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import type { Logger } from '../lib/log.ts';

const HERE = dirname(fileURLToPath(import.meta.url));
const WORKFLOWS = join(HERE, '..', 'workflows');
/** Path of the bundle in a production build. */
const BUILT_BUNDLE = join(HERE, 'workflow-bundle.js');
const CACHE = join(HERE, '..', '.heron', 'cache');

/**
 * Returns the path of the workflow bundle. In a production build the bundle already exists. Otherwise bundles the
 * workflows now and caches the bundle by a hash of its sources, so that the many workers of a test run share it.
 */
export async function workflowBundle(log: Logger): Promise<{ codePath: string }> {
  if (existsSync(BUILT_BUNDLE)) return { codePath: BUILT_BUNDLE };
  const codePath = join(CACHE, `workflows-${sourcesHash()}.js`);
  if (existsSync(codePath)) return { codePath };
  const code = await bundleWorkflows(log);
  mkdirSync(CACHE, { recursive: true });
  const writing = `${codePath}.${process.pid}`;
  writeFileSync(writing, code);
  renameSync(writing, codePath);
  return { codePath };
}

/** Bundles workflows/index with webpack and returns the code. */
export async function bundleWorkflows(log: Logger): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(WORKFLOWS, 'index.ts'),
    workflowInterceptorModules: [join(WORKFLOWS, 'trace-context.ts')],
    logger: {
      log: () => {},
      trace: () => {},
      debug: () => {},
      info: () => {},
      warn: (message, meta) => log.warn({ meta }, message),
      error: (message, meta) => log.error({ meta }, message),
    },
  });
  return code;
}

function sourcesHash(): string {
  const hash = createHash('sha256');
  const sdk = createRequire(import.meta.url)('@temporalio/worker/package.json') as { version: string };
  hash.update(sdk.version);
  const walk = (folder: string) => {
    for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && entry.name !== 'histories') walk(path);
      else if (/(?<!\.test)\.ts$/.test(entry.name)) hash.update(entry.name).update(readFileSync(path));
    }
  };
  walk(WORKFLOWS);
  return hash.digest('hex').slice(0, 16);
}
