import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { freePort, spawnServer, type ServerProcess } from '../servers.ts';
import type { TemporalCli } from './cli.ts';

const START_TIMEOUT_MS = 60_000;
const PORT_ATTEMPTS = 3;
const NAMESPACE = 'default';

/**
 * Search attributes by which operators filter workflows in the Temporal UI. They contain ids and kinds, never
 * addresses.
 */
const SEARCH_ATTRIBUTES = {
  OrganizationId: 'Keyword',
  CampaignId: 'Keyword',
  Deadline: 'Datetime',
  EndpointId: 'Keyword',
  Kind: 'Keyword',
  State: 'Keyword',
};

/**
 * Settings of the development server. All its workflows are in one history shard, which by default polls for tasks and
 * timers 20 times a second. This would limit a workflow to ten sequential activities per second. Each task queue has
 * one partition, because more only add latency on one machine. Tasks are ordered by priority, then fairly by
 * organization (fairness key). `enableMigration` first drains the backlog of an older state file.
 */
const DYNAMIC_CONFIG = [
  'history.transferProcessorMaxPollRPS=200',
  'history.timerProcessorMaxPollRPS=200',
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
  'matching.useNewMatcher=true',
  'matching.enableFairness=true',
  'matching.enableMigration=true',
];

/** Settings of SQLite that make a file as fast as memory, while its data still survives kill -9. */
const SQLITE_PRAGMAS = ['journal_mode=WAL', 'synchronous=1'];

interface TemporalServerOptions {
  /** Further settings of the server (dynamic config), as `name=value`. */
  settings?: readonly string[];
  cli: TemporalCli;
  /** File that keeps the state across restarts. Without it, the state is only in memory. */
  dbFile?: string;
  /** Port of the gRPC frontend. Defaults to a free port. */
  port?: number;
  /** Port of the web UI. Defaults to a free port. */
  uiPort?: number;
  /** True if the web UI is disabled. */
  headless?: boolean;
  /** True to start without Heron's search attributes, like a server that was not prepared. */
  bare?: boolean;
  /** File that receives the server's output. */
  logFile: string;
}

export interface TemporalServer {
  /** Address of the gRPC frontend as host:port. */
  address: string;
  /** URL of the web UI; undefined if headless. */
  uiUrl: string | undefined;
  pid: number;
  /** Settles when the server has ended for any reason. */
  exited: ServerProcess['exited'];
  /** Stops the server in an orderly way, and by SIGKILL if that takes too long. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts Temporal's development server on 127.0.0.1 with Heron's search attributes. Resolves once namespace and
 * attributes answer over gRPC. The server ends with this process, even after a crash.
 * @throws Error with the last lines of the server's log when it is not healthy within a minute
 */
export async function startTemporalServer(options: TemporalServerOptions): Promise<TemporalServer> {
  await mkdir(dirname(options.logFile), { recursive: true });
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await freePort());
    const uiPort = options.headless ? undefined : (options.uiPort ?? (await freePort()));
    const server = await spawnTemporal(options, port, uiPort);
    const address = `127.0.0.1:${port}`;
    if (await becomesHealthy(server, address, options.bare ? [] : Object.keys(SEARCH_ATTRIBUTES), deadline)) {
      return {
        address,
        uiUrl: uiPort === undefined ? undefined : `http://127.0.0.1:${uiPort}`,
        pid: server.pid,
        exited: server.exited,
        stop: () => server.stop(),
      };
    }
    await server.stop();
    const log = (await readFile(options.logFile, 'utf8')).trimEnd().split('\n').slice(-15).join('\n');
    const portTaken = /address already in use|can't set .*port/i.test(log);
    if (!portTaken || attempt === PORT_ATTEMPTS || Date.now() > deadline) {
      throw new Error(`The Temporal server (${options.cli.path}) did not start:\n${log}`);
    }
  }
}

async function spawnTemporal(
  options: TemporalServerOptions,
  port: number,
  uiPort: number | undefined,
): Promise<ServerProcess> {
  const args = ['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--namespace', NAMESPACE];
  args.push(...(uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort)]));
  for (const [name, type] of options.bare ? [] : Object.entries(SEARCH_ATTRIBUTES))
    args.push('--search-attribute', `${name}=${type}`);
  for (const setting of [...DYNAMIC_CONFIG, ...(options.settings ?? [])]) args.push('--dynamic-config-value', setting);
  if (options.dbFile) {
    await mkdir(dirname(options.dbFile), { recursive: true });
    args.push('--db-filename', options.dbFile);
    for (const pragma of SQLITE_PRAGMAS) args.push('--sqlite-pragma', pragma);
  }
  const log = await open(options.logFile, 'a', 0o600);
  try {
    return await spawnServer(options.cli.path, args, {
      env: withoutTemporalSettings(process.env),
      stdio: ['ignore', log.fd, log.fd],
      stopSignal: 'SIGTERM',
      graceMs: 10_000,
    });
  } finally {
    await log.close();
  }
}

/**
 * Returns an environment without TEMPORAL_* variables. They are meant for Heron's own client, but the CLI reads them
 * too.
 */
function withoutTemporalSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('TEMPORAL_')));
}

async function becomesHealthy(
  server: ServerProcess,
  address: string,
  attributes: readonly string[],
  deadline: number,
): Promise<boolean> {
  while (!server.ended && Date.now() < deadline) {
    if (await isHealthy(address, attributes)) return true;
    await sleep(100);
  }
  return false;
}

async function isHealthy(address: string, attributes: readonly string[]): Promise<boolean> {
  let connection: Connection | undefined;
  try {
    const open = await Connection.connect({ address, connectTimeout: '1s' });
    connection = open;
    return await open.withDeadline(Date.now() + 2000, async () => {
      await open.workflowService.describeNamespace({ namespace: NAMESPACE });
      const { customAttributes } = await open.operatorService.listSearchAttributes({ namespace: NAMESPACE });
      return attributes.every((name) => name in customAttributes);
    });
  } catch {
    return false;
  } finally {
    await connection?.close();
  }
}
