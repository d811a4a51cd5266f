import type { Connection } from '@temporalio/client';
import { startApi } from '../api/servers/api.ts';
import { startForms } from '../api/servers/forms.ts';
import { startRealtime } from '../api/servers/realtime.ts';
import { startTracking } from '../api/servers/tracking.ts';
import { ensureSetupLink } from '../domain/auth/setup.ts';
import { toFindings } from '../domain/instance/findings.ts';
import { lookAtSettings } from '../domain/instance/settings.ts';
import type { Config } from '../lib/config/index.ts';
import { createMetrics } from '../lib/metrics.ts';
import { onShutdown } from '../lib/shutdown.ts';
import { startTracing } from '../lib/trace.ts';
import { keepPrepared, prepareNamespace } from '../temporal/prepare.ts';
import { startWorker } from '../workers/worker.ts';
import { assemble, type Assembly } from './assemble.ts';
import { OperatorError, requireCurrentSchema, waitForDatabase, waitForTemporal } from './waiting.ts';

/** The processes of an installation; each may run any number of times. */
const PROCESS_NAMES = ['api', 'tracking', 'forms', 'realtime', 'worker'] as const;
export type ProcessName = (typeof PROCESS_NAMES)[number];

/** The message of a process to its parent (over Node's IPC channel, where there is one) once it serves. */
export interface ReadyMessage {
  ready: { url: string | null; setupUrl: string | null };
}

/** Everything that a process reports to its parent: each stage of its start as it begins, then that it serves. */
export type ProcessMessage = ReadyMessage | { stage: string };

interface Running {
  url: string | null;
  setupUrl: string | null;
  /** Rejects when the process can no longer do its work; absent where nothing ends it. */
  failed?: Promise<never>;
  stop(): Promise<void>;
}

const START: Record<ProcessName, (assembly: Assembly) => Promise<Running>> = {
  api: async ({ deps }) => {
    const link = await ensureSetupLink(deps);
    const server = await listening('API_PORT', startApi(deps, createMetrics()));
    if (link)
      deps.log.info(
        { setupUrl: link.url, expiresAt: link.expiresAt },
        'no account exists yet: claim the installation with the setup link',
      );
    return { url: server.url, setupUrl: link?.url ?? null, stop: () => server.close() };
  },
  tracking: async ({ deps }) => {
    const server = await listening('TRACKING_PORT', startTracking(deps, createMetrics()));
    return { url: server.url, setupUrl: null, stop: () => server.close() };
  },
  forms: async ({ deps }) => {
    const server = await listening('FORMS_PORT', startForms(deps, createMetrics()));
    return { url: server.url, setupUrl: null, stop: () => server.close() };
  },
  realtime: async ({ deps }) => {
    const server = await listening('REALTIME_PORT', startRealtime(deps, createMetrics()));
    return { url: server.url, setupUrl: null, stop: () => server.close() };
  },
  worker: async ({ deps, temporal }) => {
    const { config, log } = deps;
    const installation = { namespace: config.TEMPORAL_NAMESPACE, taskQueue: config.TEMPORAL_TASK_QUEUE };
    let kept: ReturnType<typeof keepPrepared> | undefined;
    if (config.WORKER_ROLES.some((role) => role !== 'sync' && role !== 'reactions')) {
      reportStage('waiting for Temporal');
      await waitForTemporal(temporal.connection as Connection, config.TEMPORAL_ADDRESS, log);
      reportStage('preparing search attributes and schedules');
      await prepareNamespace(temporal, installation, log);
      kept = keepPrepared(temporal, installation, log);
    }
    reportStage('bundling workflows and starting the task queues');
    const worker = await listening(
      'WORKER_PORT',
      startWorker({ deps, temporal, metrics: createMetrics(), httpPort: config.WORKER_PORT }),
    );
    const stop = (): Promise<void> => {
      kept?.stop();
      return worker.stop();
    };
    return { url: worker.http?.url ?? null, setupUrl: null, failed: worker.failed, stop };
  },
};

/**
 * Runs one process until a signal ends it: waits for the database, refuses to work on an old schema, serves, and on
 * SIGTERM or SIGINT stops accepting, finishes open work and closes its pools. Resolves once it serves.
 * When the database or Temporal cannot be used, it says so and exits with 1.
 */
export async function runProcess(name: ProcessName, config: Config): Promise<void> {
  const tracing = await startTracing(config, name);
  const assembly = assemble(config, name);
  const { deps } = assembly;
  const { log } = deps;
  if (config.APP_ENV === 'prod')
    for (const { severity, message } of toFindings(lookAtSettings(config))) if (severity !== 'info') log.warn(message);
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
}

/** Reports a stage of the start to the parent, which waits as long as stages follow each other. */
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
