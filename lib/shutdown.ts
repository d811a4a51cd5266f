import type { Config } from './config/index.ts';
import type { Logger } from './log.ts';

/**
 * Time (ms) in which a second signal is ignored. Ctrl-C in a terminal reaches a process twice if its parent forwards
 * signals.
 */
const ECHO_MS = 1_000;

/** Share of SHUTDOWN_GRACE_MS that open requests and activities may use. The rest is for the final writes. */
const OPEN_WORK_SHARE = 0.8;

/** Returns the time (ms) for which a stopping process waits for its open requests and activities. */
export function openWorkTimeoutMs({ SHUTDOWN_GRACE_MS: graceMs }: Pick<Config, 'SHUTDOWN_GRACE_MS'>): number {
  return graceMs * OPEN_WORK_SHARE;
}

/**
 * Runs `stop` once on SIGTERM or SIGINT, then exits. Exits immediately on a second signal, or if `stop` takes longer
 * than `graceMs` (ms).
 */
export function onShutdown(log: Logger, graceMs: number, stop: () => Promise<void>): void {
  let stoppingSince: number | undefined;
  const handle = (signal: string) => {
    if (stoppingSince !== undefined) {
      if (performance.now() - stoppingSince > ECHO_MS) process.exit(1);
      return;
    }
    stoppingSince = performance.now();
    log.info({ signal }, 'stopping');
    const timer = setTimeout(() => {
      log.error('did not stop in time');
      process.exit(1);
    }, graceMs);
    timer.unref();
    stop().then(
      () => process.exit(0),
      (error) => {
        log.error({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', () => handle('SIGTERM'));
  process.on('SIGINT', () => handle('SIGINT'));
}
