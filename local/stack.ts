import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { isDatabaseUnavailable } from '../db/errors.ts';
import { freePort, isPortFree } from './servers.ts';
import { startBackingServices, type BackingServices } from './backing.ts';
import { runCommand, startChild } from './child.ts';
import { localSecrets } from './secrets.ts';
import { manage, type Managed } from './managed.ts';
import type { ProcessName } from '../deploy/processes.ts';

const DATABASE = 'heron';
const HOST = '127.0.0.1';
const DEFAULT_GRACE_MS = 25_000;
/** Time limit (ms) for connecting to a database that the caller provides. */
const DATABASE_PATIENCE_MS = 60_000;

/** Ports of the parts of a stack. */
export interface StackPorts {
  api: number;
  tracking: number;
  forms: number;
  realtime: number;
  worker: number;
  postgres: number;
  temporal: number;
  temporalUi: number;
}

interface LocalStackOptions {
  /** Folder of all data, secrets and logs. Defaults to a temporary folder that is removed on stop. */
  dataDir?: string;
  /**
   * False if no data needs to survive the stop. PostgreSQL is then faster, because it runs without durability, and
   * Temporal loses its state when it is killed.
   */
  persistent: boolean;
  /**
   * Settings of the processes, which override those of the stack. PRIMARY_DB and TEMPORAL_ADDRESS name servers to use
   * instead of starting them.
   */
  env?: Record<string, string | undefined>;
  /** Preferred ports. If a port is in use, another one is chosen and logged. Default to free ports. */
  ports?: Partial<StackPorts>;
  /** Required ports, each with the setting that requires it. A port in use is an error. */
  fixedPorts?: Partial<Record<keyof StackPorts, { port: number; setting: string }>>;
  /** True if a process that ends unexpectedly is restarted. Otherwise call {@link Managed.restart}. */
  supervise?: boolean;
  /** True if Temporal's web UI is disabled. */
  headless?: boolean;
  /**
   * True if Temporal's state may be upgraded to the pinned server version. Its workflows are restarted if necessary.
   */
  upgradeTemporal?: boolean;
  /** Receives one log line per step. */
  log: (line: string) => void;
  /** Receives every line of the processes' output. */
  onLine?: (from: ProcessName, line: string) => void;
}

export interface LocalStack {
  urls: {
    api: string;
    docs: string;
    tracking: string;
    forms: string;
    /** URL of the event stream (ws://). */
    realtime: string;
    apiMetrics: string;
    workerMetrics: string;
    temporalUi: string | undefined;
    /** Link for the setup of the first account; null once an account exists. */
    setup: string | null;
  };
  /** Settings of the processes. With the same settings, the operator's command line reaches the same installation. */
  env: Record<string, string>;
  dataDir: string;
  /** Processes of the stack. PostgreSQL and Temporal are undefined if the caller provides them. */
  processes: {
    /** Process of the servers: API, tracking, forms and realtime. */
    serve: Managed;
    worker: Managed;
    postgres: Managed | undefined;
    temporal: Managed | undefined;
  };
  /** Stops everything in order: servers, worker, then PostgreSQL and Temporal. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts a whole installation on this machine: PostgreSQL, Temporal, all servers in one child process, and a worker in
 * another, so that each can end without the other. Migrates the schema first.
 * @throws Error when a part does not start; started parts are stopped first
 */
export async function startLocalStack(options: LocalStackOptions): Promise<LocalStack> {
  const { env: given = {}, log } = options;
  const supervise = options.supervise ?? false;
  const ports = await choosePorts(options, log);
  const backing = await startBackingServices({
    persistent: options.persistent,
    ports,
    given,
    supervise,
    log,
    ...(options.dataDir && { dataDir: options.dataDir }),
    ...(options.headless && { headless: true }),
    ...(options.upgradeTemporal && { upgradeTemporal: true }),
  });
  const started: Managed[] = [];
  const stop = async (): Promise<void> => {
    // The servers finish their requests while the worker still processes the resulting work.
    await Promise.all(started.filter(({ name }) => name !== 'worker').map((managed) => managed.stop()));
    await Promise.all(started.map((managed) => managed.stop()));
    await backing.stop();
  };

  try {
    const env = await settings(backing, ports, given);
    await prepareDatabase(backing, env, log);
    const setup: { url: string | null } = { url: null };
    const launch = (name: ProcessName) =>
      manage(
        name,
        async () => {
          const child = await startChild(name, {
            env: { ...process.env, ...env },
            logFile: join(backing.dataDir, 'logs', `${name}.log`),
            graceMs: Number(env.SHUTDOWN_GRACE_MS ?? DEFAULT_GRACE_MS),
            onLine: (line) => options.onLine?.(name, line),
            onStage: (stage) => log(`${name}: ${stage}`),
          });
          if (name === 'serve') setup.url = child.ready.setupUrl;
          log(`${name}: serving on ${child.ready.url} (pid ${child.pid})`);
          return child;
        },
        { supervise, log },
      ).then((managed) => {
        started.push(managed);
        return managed;
      });
    const outcomes = await Promise.allSettled([launch('serve'), launch('worker')]);
    const failure = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failure) throw failure.reason;
    const [serve, worker] = outcomes.map((outcome) => (outcome as PromiseFulfilledResult<Managed>).value) as [
      Managed,
      Managed,
    ];
    if (backing.temporalReplaced) await reconcileRuns(env, log);
    const origin = `http://${HOST}:${ports.api}`;
    return {
      urls: {
        api: origin,
        docs: `${origin}/docs`,
        tracking: `http://${HOST}:${ports.tracking}`,
        forms: `http://${HOST}:${ports.forms}`,
        realtime: `ws://${HOST}:${ports.realtime}/v1/realtime`,
        apiMetrics: `${origin}/metrics`,
        workerMetrics: `http://${HOST}:${ports.worker}/metrics`,
        temporalUi: backing.temporalUiUrl ?? env.TEMPORAL_UI_URL,
        setup: setup.url,
      },
      env,
      dataDir: backing.dataDir,
      processes: { serve, worker, postgres: backing.postgres, temporal: backing.temporal },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Chooses the port of each part.
 * @throws Error naming every required port that is in use
 */
async function choosePorts(options: LocalStackOptions, log: (line: string) => void): Promise<StackPorts> {
  const { ports: preferred = {}, fixedPorts: fixed = {}, env = {} } = options;
  const taken: string[] = [];
  const choose = async (what: keyof StackPorts): Promise<number> => {
    const asked = fixed[what];
    if (asked) {
      if (!isGiven(what, env) && !(await isPortFree(asked.port, HOST)))
        taken.push(`Port ${asked.port} is taken by another program (${asked.setting}).`);
      return asked.port;
    }
    const wanted = preferred[what];
    if (wanted && (await isPortFree(wanted, HOST))) return wanted;
    const port = await freePort();
    if (wanted && !isGiven(what, env))
      log(`port ${wanted} (${what}) is taken by another program: using ${port} instead`);
    return port;
  };
  const ports: StackPorts = {
    api: await choose('api'),
    tracking: await choose('tracking'),
    forms: await choose('forms'),
    realtime: await choose('realtime'),
    worker: await choose('worker'),
    postgres: await choose('postgres'),
    temporal: await choose('temporal'),
    temporalUi: await choose('temporalUi'),
  };
  if (taken.length > 0) throw new Error(taken.join('\n'));
  return ports;
}

/** Returns true if the caller provides a server, so that the stack's own port is unused. */
function isGiven(what: keyof StackPorts, env: Record<string, string | undefined>): boolean {
  if (what === 'postgres') return Boolean(env.PRIMARY_DB);
  return (what === 'temporal' || what === 'temporalUi') && Boolean(env.TEMPORAL_ADDRESS);
}

/** Returns the settings of the processes: those of the stack, those that the caller gave, and the actual addresses. */
async function settings(
  backing: BackingServices,
  ports: StackPorts,
  given: Record<string, string | undefined>,
): Promise<Record<string, string>> {
  const chosen: Record<string, string> = {
    ...(await localSecrets(backing.dataDir)),
    LISTEN_HOST: HOST,
    API_PUBLIC_URL: `http://${HOST}:${ports.api}`,
    APP_URL: `http://${HOST}:${ports.api}`,
    TRACKING_DOMAIN: `http://${HOST}:${ports.tracking}`,
    REALTIME_PUBLIC_URL: `http://${HOST}:${ports.realtime}`,
    ...(backing.temporalUiUrl && { TEMPORAL_UI_URL: backing.temporalUiUrl }),
  };
  const above = Object.entries(given).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  return {
    ...chosen,
    ...Object.fromEntries(above),
    PRIMARY_DB: backing.postgres ? databaseIn(backing.databaseUrl) : backing.databaseUrl,
    TEMPORAL_ADDRESS: backing.temporalAddress,
    API_PORT: String(ports.api),
    TRACKING_PORT: String(ports.tracking),
    FORMS_PORT: String(ports.forms),
    REALTIME_PORT: String(ports.realtime),
    WORKER_PORT: String(ports.worker),
  };
}

/**
 * Restarts the workflows that must be open according to PostgreSQL. The worker and the search attributes must exist.
 */
async function reconcileRuns(env: Record<string, string>, log: (line: string) => void): Promise<void> {
  const { families } = JSON.parse(await runCommand(['reconcile', '--json'], env)) as {
    families: { family: string; missing: number }[];
  };
  const missing = families.filter((family) => family.missing > 0);
  const counts = missing.map((family) => `${family.missing} ${family.family}`).join(', ');
  log(`Temporal: ${counts ? `started again: ${counts}` : 'no run had to be started again'}`);
}

/** Migrates the schema in a separate process, so that its modules do not stay in the memory of this process. */
async function prepareDatabase(
  backing: BackingServices,
  env: Record<string, string>,
  log: (line: string) => void,
): Promise<void> {
  const client = await connectPatiently(backing.databaseUrl, log);
  try {
    if (backing.postgres) {
      const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE]);
      if (rowCount === 0) await client.query(`create database ${DATABASE}`);
    }
  } finally {
    await client.end();
  }
  const { applied } = JSON.parse(await runCommand(['migrate'], env)) as { applied: string[] };
  if (applied.length > 0)
    log(`PostgreSQL: schema brought up to date, ${applied.length} migrations up to ${applied.at(-1)}`);
}

/**
 * Connects to a database, and waits if it is still starting.
 * @throws Error when it is unreachable for a minute, or refuses the connection
 */
async function connectPatiently(url: string, log: (line: string) => void): Promise<pg.Client> {
  const deadline = performance.now() + DATABASE_PATIENCE_MS;
  for (let attempt = 1; ; attempt += 1) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (!isDatabaseUnavailable(error) || performance.now() > deadline) throw error;
      if (attempt === 1) log('PostgreSQL: the database is not there yet; waiting for it, at most a minute');
      await sleep(500);
    }
  }
}

function databaseIn(adminUrl: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${DATABASE}`;
  return url.href;
}
