import { withRawDb, type TestAssembly } from '../test/harness/database.ts';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { assemble } from '../deploy/assemble.ts';
import { startLocalStack, type LocalStack } from '../local/stack.ts';
import { loadConfig } from '../lib/config/index.ts';
import { silentLogger } from '../lib/log.ts';
import { forkSource } from '../local/typescript.ts';

/**
 * Input of a benchmark: an installation of real processes, a direct connection to its database, and the amount of work.
 */
export interface BenchContext {
  stack: LocalStack;
  assembly: TestAssembly;
  /** True to check, with small amounts of data, that the benchmark works. Its figures are then not meaningful. */
  quick: boolean;
  /** Size of large data sets as a fraction of their full size. Defaults to 1. */
  scale: number;
  /** Folder in which the installation and its data are kept. If undefined, all data is deleted at the end. */
  dataDir?: string | undefined;
  log(line: string): void;
  /** Starts a process of bench/processes, which ends with the benchmark. */
  helper(name: string, env?: Record<string, string>): Promise<Helper>;
  /** Returns the versions of the running parts. */
  versions(): Promise<Record<string, string>>;
}

/** Helper process outside the installation, which answers messages. */
export interface Helper {
  pid: number;
  /** Port that the process reported in its first message. */
  port: number;
  ask<Answer>(question: string): Promise<Answer>;
  stop(): Promise<void>;
}

/** Results of one benchmark. */
export interface BenchResult {
  /** Figures for the table: label, and value with unit. */
  figures: { label: string; value: string }[];
  targets: { what: string; target: string; got: string; met: boolean }[];
  /** All measured values, by series. */
  raw: Record<string, unknown>;
}

export type Bench = (context: BenchContext) => Promise<BenchResult>;

const SETTINGS: Record<string, string> = {
  LOG_LEVEL: 'warn',
  ALLOW_UNSAFE_WEBHOOK_URLS: 'true',
  ALLOW_PRIVATE_MAIL_HOSTS: 'true',
  ORG_WRITES_PER_MINUTE: '0',
  ORG_CAMPAIGNS_PER_DAY: '0',
  SESSION_REQUESTS_PER_MINUTE: '0',
  IMPORT_MAX_BYTES: String(1024 ** 3),
  IMPORT_MAX_ROWS: '10000000',
  ORG_IMPORT_BYTES: '0',
};

/** Starts an installation for one benchmark with the durability of `npm start`, and stops it afterwards. */
export async function withContext<T>(
  {
    env = {},
    ...options
  }: Pick<BenchContext, 'quick' | 'scale' | 'dataDir' | 'log'> & { env?: Record<string, string> },
  work: (context: BenchContext) => Promise<T>,
): Promise<T> {
  const stack = await startLocalStack({
    persistent: true,
    ...(options.dataDir && { dataDir: options.dataDir }),
    headless: true,
    env: { ...SETTINGS, ...env },
    log: () => {},
  });
  const assembly = withRawDb(assemble(loadConfig(stack.env), 'bench', { log: silentLogger }));
  const helpers: Helper[] = [];
  try {
    return await work({
      stack,
      assembly,
      ...options,
      async helper(name, env = {}) {
        const started = await startHelper(name, { ...stack.env, ...env });
        helpers.push(started);
        return started;
      },
      versions: () => readVersions(assembly),
    });
  } finally {
    await Promise.all(helpers.map((helper) => helper.stop()));
    await assembly.close();
    await stack.stop();
  }
}

async function readVersions({ deps, temporal }: TestAssembly): Promise<Record<string, string>> {
  const { rows } = (await deps.db.raw('show server_version')) as { rows: { server_version: string }[] };
  const { serverVersion } = await temporal.workflowService.getSystemInfo({});
  return {
    Node: process.versions.node,
    PostgreSQL: rows[0]!.server_version,
    'Temporal server': serverVersion ?? 'unknown',
  };
}

async function startHelper(name: string, env: Record<string, string>): Promise<Helper> {
  const path = fileURLToPath(new URL(`processes/${name}.ts`, import.meta.url));
  const child = forkSource(path, [], { env: { ...process.env, ...env } });
  const ended = once(child, 'exit');
  const first = await Promise.race([once(child, 'message'), ended.then(() => undefined)]);
  if (!first) throw new Error(`bench/processes/${name}.ts ended before it was ready`);
  return {
    pid: child.pid!,
    port: (first[0] as { port: number }).port,
    ask: (question) => ask(child, question),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function ask<Answer>(child: ChildProcess, question: string): Promise<Answer> {
  const answer = once(child, 'message');
  child.send(question);
  return (await answer)[0] as Answer;
}
