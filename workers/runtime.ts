import { get } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { ApplicationFailure, IllegalStateError } from '@temporalio/common';
import { DefaultLogger, Runtime, type LogLevel } from '@temporalio/worker';
import type { Logger } from '../lib/log.ts';

/** Where the Temporal core of this process serves its metrics, loopback only; undefined before it is installed. */
let metricsPort: number | undefined;

/**
 * Routes the log lines and metrics of the Temporal core into ours, unless that was done: its runtime is global. The SDK ends the runtime with
 * the last worker of the process; the next worker gets a new one, on another port, as the old one may be taken. Heron handles signals of the process itself.
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
 * The metrics of the Temporal core in Prometheus' text format: task failures, latencies from schedule to start, slots,
 * the cache of workflows, requests to the server. Empty where no task queue is served, and when they cannot be read.
 * @param port where the core serves them
 */
export async function coreMetrics(port = metricsPort): Promise<string> {
  if (port === undefined) return '';
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, path: '/metrics', timeout: 2_000 }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
      // An answer that breaks off has no end.
      response.on('close', () => resolve(''));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(''));
  });
}

/** Buckets (s) of the times that tasks wait and take: from an empty queue to a backlog of minutes. */
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
 * Warnings of the SDK that need no attention: a queue that has activities alone, and an activity that asks for another
 * attempt or has said by itself why it ends. Whatever else an activity throws stays a warning.
 */
function isOrdinary(message: string, meta: Record<string, unknown>): boolean {
  if (message.startsWith('No workflows registered')) return true;
  return message === 'Activity failed' && meta.error instanceof ApplicationFailure;
}

/** A port of the loopback interface that is free at this moment. */
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
