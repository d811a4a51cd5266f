import { DefaultLogger, Runtime, type LogLevel } from '@temporalio/worker';
import type { Logger } from '../lib/log.ts';

let installed = false;

/** Routes the Temporal core's log lines into ours. Once per process: the runtime is global. Signals stay ours. */
export function installRuntime(log: Logger): void {
  if (installed) return;
  installed = true;
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
      log[levels[level]](rest, message);
    }),
    shutdownSignals: [],
    telemetryOptions: { logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} } },
  });
}
