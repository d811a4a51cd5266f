import type { Logger } from './log.ts';

/** A terminal's Ctrl-C reaches a process twice when its parent passes signals on: a second signal within this many ms is ignored. */
const ECHO_MS = 1_000;

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
