import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { freePort, spawnServer, type ServerProcess } from '../servers.ts';
import type { TemporalCli } from './cli.ts';

const START_TIMEOUT_MS = 60_000;
const PORT_ATTEMPTS = 3;
const NAMESPACE = 'default';

/** What an operator filters runs by in the Temporal UI: ids and kinds, never addresses. */
const SEARCH_ATTRIBUTES = {
  OrganizationId: 'Keyword',
  CampaignId: 'Keyword',
  Deadline: 'Datetime',
  EndpointId: 'Keyword',
  Kind: 'Keyword',
  State: 'Keyword',
};

/**
 * All workflows of this server are in one history shard, which may look for new tasks and timers 20 times a second unless told otherwise: a run of one
 * activity after another would take ten a second at most. One partition per task queue: on one machine more of them only add latency when busy. Tasks leave a queue by priority,
 * and within one priority in turn by fairness key, which is the organization; `enableMigration` lets the backlog of a
 * state file from before that drain first.
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

/** With these a file costs no more than memory does, and still survives kill -9. */
const SQLITE_PRAGMAS = ['journal_mode=WAL', 'synchronous=1'];

interface TemporalServerOptions {
  /** Further settings of the server (dynamic config), as `name=value`. */
  settings?: readonly string[];
  cli: TemporalCli;
  /** Keeps the state across restarts; in memory when not given. */
  dbFile?: string;
  /** The gRPC port; a free one is chosen when not given. */
  port?: number;
  /** The web UI's port; a free one is chosen when not given. */
  uiPort?: number;
  /** True leaves the web UI out. */
  headless?: boolean;
  /** True leaves Heron's search attributes out, as on a cluster that has not been prepared. */
  bare?: boolean;
  /** What the server prints is appended here. */
  logFile: string;
}

export interface TemporalServer {
  /** host:port of the gRPC frontend. */
  address: string;
  /** Of the web UI; undefined when headless. */
  uiUrl: string | undefined;
  pid: number;
  /** Settles when the server has ended, for whatever reason. */
  exited: ServerProcess['exited'];
  /** An orderly stop, then SIGKILL. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts Temporal's development server on 127.0.0.1 with Heron's search attributes, and resolves once the
 * namespace and the attributes answer over gRPC. It ends with this process, however that ends.
 *
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

/** The CLI reads TEMPORAL_* too, and those meant for Heron's own client would change what it does. */
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
