import { get } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { ApplicationFailure, IllegalStateError } from '@temporalio/common';
import { DefaultLogger, Runtime, type LogLevel } from '@temporalio/worker';
import type { Logger } from '../lib/log.ts';

/**
 * Loopback port on which this process's Temporal core serves its metrics; undefined before the runtime is installed.
 */
let metricsPort: number | undefined;

/**
 * Installs the Temporal core's runtime, which is global, with Heron's logger and a metrics port. Does nothing if it is
 * installed. The SDK shuts the runtime down with the last worker of the process. The next worker gets a new one on
 * another port, because the old port may be in use. Heron handles the signals of the process, not the runtime.
 */
export async function installRuntime(log: Logger): Promise<void> {
  const port = await unusedPort();
  try {
    install(log, port);
    metricsPort = port;
  } catch (error) {
    if (metricsPort === undefined || !(error instanceof IllegalStateError)) throw error;
  }
}

/**
 * Returns the Temporal core's metrics in Prometheus' text format: task failures, schedule-to-start latencies, slots,
 * workflow cache, requests to the server. Empty if no task queue is served or the metrics cannot be read.
 * @param port port on which the core serves them
 */
export async function coreMetrics(port = metricsPort): Promise<string> {
  if (port === undefined) return '';
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, path: '/metrics', timeout: 2_000 }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
      // An interrupted response emits `close` but no `end`.
      response.on('close', () => resolve(''));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(''));
  });
}

/** Histogram buckets (s) for waiting and running times of tasks, from an empty queue to a backlog of minutes. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

function install(log: Logger, port: number): void {
  const levels: Record<LogLevel, 'trace' | 'debug' | 'info' | 'warn' | 'error'> = {
    TRACE: 'trace',
    DEBUG: 'debug',
    INFO: 'debug',
    WARN: 'warn',
    ERROR: 'error',
  };
  Runtime.install({
    logger: new DefaultLogger('INFO', ({ level, message, meta }) => {
      const { taskToken: _token, ...rest } = (meta ?? {}) as Record<string, unknown>;
      log[isOrdinary(message, rest) ? 'debug' : levels[level]](rest, message);
    }),
    shutdownSignals: [],
    telemetryOptions: {
      logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
      metrics: {
        attachServiceName: false,
        prometheus: {
          bindAddress: `127.0.0.1:${port}`,
          countersTotalSuffix: true,
          unitSuffix: true,
          useSecondsForDurations: true,
          histogramBucketOverrides: Object.fromEntries(
            [
              'activity_schedule_to_start_latency',
              'activity_execution_latency',
              'activity_succeed_endtoend_latency',
              'local_activity_execution_latency',
              'workflow_task_schedule_to_start_latency',
              'workflow_task_execution_latency',
              'workflow_endtoend_latency',
              'request_latency',
              'long_request_latency',
            ].map((name) => [name, SECONDS]),
          ),
        },
      },
    },
  });
}

/**
 * Returns true for SDK warnings that need no attention: a queue that serves only activities, and an activity that
 * requests another attempt or reports its failure itself. Other errors of activities stay warnings.
 */
function isOrdinary(message: string, meta: Record<string, unknown>): boolean {
  if (message.startsWith('No workflows registered')) return true;
  return message === 'Activity failed' && meta.error instanceof ApplicationFailure;
}

/** Returns a currently free port of the loopback interface. */
function unusedPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
