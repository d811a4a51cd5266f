import type { Config } from './config/index.ts';
import type { Logger } from './log.ts';

/** A terminal's Ctrl-C reaches a process twice when its parent passes signals on: a second signal within this many ms is ignored. */
const ECHO_MS = 1_000;

/** Share of SHUTDOWN_GRACE_MS that open requests and activities may take; the rest is for what is written when they are over. */
const OPEN_WORK_SHARE = 0.8;

/** How long (ms) a process that stops waits for its open requests and activities. */
export function openWorkMayTakeMs({ SHUTDOWN_GRACE_MS: graceMs }: Pick<Config, 'SHUTDOWN_GRACE_MS'>): number {
  return graceMs * OPEN_WORK_SHARE;
}

/**
 * Runs `stop` once on SIGTERM or SIGINT, then exits; a second signal, or `graceMs` (ms) without an end, exits at once.
 * In-flight requests and activities get that long to finish.
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
