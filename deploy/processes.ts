import type { Connection } from '@temporalio/client';
import { toFindings } from '../domain/operations/instance/findings.ts';
import { settingFindings } from '../domain/operations/instance/settings.ts';
import { renderFinding } from '../lib/finding.ts';
import type { Config } from '../lib/config/index.ts';
import type { Deps } from '../domain/platform/kernel/context.ts';
import type { Listening } from '../lib/listen.ts';
import { createMetrics, type Metrics } from '../lib/metrics.ts';
import { onShutdown } from '../lib/shutdown.ts';
import { startTracing } from '../lib/trace.ts';
import { assemble, type Assembly } from './assemble.ts';
import { OperatorError, requireCurrentSchema, waitForDatabase, waitForTemporal } from './waiting.ts';

/** Servers of an installation. */
const SERVER_NAMES = ['api', 'tracking', 'forms', 'realtime'] as const;
type ServerName = (typeof SERVER_NAMES)[number];

/**
 * Processes of an installation. Any number of each may run at the same time. `serve` runs all servers in one process.
 */
export type ProcessName = ServerName | 'serve' | 'worker';

/** Message that a process sends to its parent (over Node's IPC channel, if there is one) when it serves. */
export interface ReadyMessage {
  ready: { url: string | null; setupUrl: string | null };
}

/** All messages of a process to its parent: one for each stage of its start, and one when it serves. */
export type ProcessMessage = ReadyMessage | { stage: string };

interface Running {
  url: string | null;
  setupUrl: string | null;
  /** Rejects when the process can no longer work. Absent if this cannot happen. */
  failed?: Promise<never>;
  /** Prepares data for requests, while the process already serves. Absent if no preparation is needed. */
  prepare?: () => void;
  stop(): Promise<void>;
}

type StartServer = (deps: Deps, metrics: Metrics) => Promise<Listening & Pick<Running, 'prepare'>>;

/**
 * Servers with their port setting. A process loads only the code that it runs, because loading takes most of its start
 * time and memory.
 */
const SERVERS: Record<ServerName, { setting: string; load: () => Promise<StartServer> }> = {
  api: { setting: 'API_PORT', load: async () => (await import('../api/servers/api.ts')).startApi },
  tracking: { setting: 'TRACKING_PORT', load: async () => (await import('../api/servers/tracking.ts')).startTracking },
  forms: { setting: 'FORMS_PORT', load: async () => (await import('../api/servers/forms.ts')).startForms },
  realtime: { setting: 'REALTIME_PORT', load: async () => (await import('../api/servers/realtime.ts')).startRealtime },
};

const START: Record<ProcessName, (assembly: Assembly) => Promise<Running>> = {
  api: ({ deps }) => startServers(deps, ['api']),
  tracking: ({ deps }) => startServers(deps, ['tracking']),
  forms: ({ deps }) => startServers(deps, ['forms']),
  realtime: ({ deps }) => startServers(deps, ['realtime']),
  serve: ({ deps }) => startServers(deps, SERVER_NAMES),
  worker: async ({ deps, temporal }) => {
    const { config, log } = deps;
    const [{ startWorker }, { prepareRegularly, prepareNamespace }] = await Promise.all([
      import('../workers/worker.ts'),
      import('../temporal/prepare.ts'),
    ]);
    const installation = { namespace: config.TEMPORAL_NAMESPACE, taskQueue: config.TEMPORAL_TASK_QUEUE };
    let kept: ReturnType<typeof prepareRegularly> | undefined;
    if (config.WORKER_ROLES.some((role) => role !== 'sync' && role !== 'reactions')) {
      reportStage('waiting for Temporal');
      await waitForTemporal(temporal.connection as Connection, config.TEMPORAL_ADDRESS, log);
      reportStage('preparing search attributes and schedules');
      await prepareNamespace(temporal, installation, log);
      kept = prepareRegularly(temporal, installation, log);
    }
    reportStage('bundling workflows and starting the task queues');
    const worker = await listening(
      'WORKER_PORT',
      startWorker({ deps, temporal, metrics: createMetrics(), httpPort: config.WORKER_PORT }),
    );
    const stop = (): Promise<void> => {
      // Does not await the end of the loop, because a running iteration may be waiting for Temporal.
      void kept?.stop();
      return worker.stop();
    };
    return { url: worker.http?.url ?? null, setupUrl: null, failed: worker.failed, stop };
  },
};

/**
 * Starts servers that share this process's database pool and metrics. The address of the process is that of the first
 * server.
 * @throws OperatorError naming the setting of a port that cannot be used; servers already started are stopped first
 */
async function startServers(deps: Deps, names: readonly ServerName[]): Promise<Running> {
  const link = names.includes('api')
    ? await (await import('../domain/identity/auth/setup.ts')).ensureSetupLink(deps)
    : null;
  const metrics = createMetrics();
  const outcomes = await Promise.allSettled(
    names.map(async (name) => {
      const { setting, load } = SERVERS[name];
      return listening(setting, (await load())(deps, metrics));
    }),
  );
  const servers = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.close()));
  };
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure) {
    await stop();
    throw failure.reason;
  }
  if (link)
    deps.log.info(
      { setupUrl: link.url, expiresAt: link.expiresAt },
      'no account exists yet: claim the installation with the setup link',
    );
  const prepare = (): void => {
    for (const server of servers) server.prepare?.();
  };
  return { url: servers[0]!.url, setupUrl: link?.url ?? null, prepare, stop };
}

/**
 * Runs one process until a signal ends it. Waits for the database, refuses an old schema, and serves. On SIGTERM or
 * SIGINT stops accepting, finishes open work and closes its pools. Resolves once it serves. If the database or Temporal
 * cannot be used, prints the reason and exits with 1.
 */
export async function runProcess(name: ProcessName, config: Config): Promise<void> {
  const tracing = await startTracing(config, name);
  const assembly = assemble(config, name);
  const { deps } = assembly;
  const { log } = deps;
  // The tracking process logs no findings, because other processes report the faults in its few settings too.
  if (config.APP_ENV === 'prod' && name !== 'tracking')
    for (const finding of toFindings(settingFindings(config))) {
      const { severity, message, fix } = renderFinding(finding);
      if (severity !== 'info') log.warn(`${message}. ${fix}`);
    }
  let running: Running;
  try {
    reportStage('waiting for the database');
    await waitForDatabase(deps.db, config.PRIMARY_DB, log);
    reportStage('checking the schema');
    await requireCurrentSchema(deps.db);
    reportStage('opening its port');
    running = await START[name](assembly);
  } catch (error) {
    if (error instanceof OperatorError) log.fatal(error.message);
    else log.fatal({ err: error }, 'this process cannot start');
    process.exit(1);
  }
  onShutdown(log, config.SHUTDOWN_GRACE_MS, async () => {
    await running.stop();
    await assembly.close();
    await tracing?.stop();
    log.info('stopped');
  });
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'this process cannot go on');
    process.exit(1);
  });
  running.failed?.catch((error: unknown) => {
    log.fatal({ err: error }, 'this process cannot go on');
    process.exit(1);
  });
  const { url, setupUrl } = running;
  log.info({ url }, `${name} is serving`);
  process.send?.({ ready: { url, setupUrl } } satisfies ReadyMessage);
  setImmediate(() => running.prepare?.());
}

/** Reports a stage of the start to the parent process. Each report restarts the timeout of the parent. */
function reportStage(stage: string): void {
  process.send?.({ stage } satisfies ProcessMessage);
}

async function listening<T>(setting: string, start: Promise<T>): Promise<T> {
  try {
    return await start;
  } catch (error) {
    const { code, port } = error as { code?: string; port?: number };
    if (code === 'EADDRINUSE') throw new OperatorError(`port ${port} is taken by another program (${setting})`);
    if (code === 'EACCES') throw new OperatorError(`port ${port} may not be used by this account (${setting})`);
    throw error;
  }
}
