const TERMINAL_INTERVAL_MS = 1000;
const LOG_INTERVAL_MS = 15_000;

/** Progress display of a slow operation. */
interface Progress {
  /** Removes the line from the terminal and stops the updates. */
  end(): void;
}

/**
 * Shows `describe(elapsed seconds)` repeatedly. On a terminal it is one line that is rewritten every second, elsewhere
 * a log line every 15 s.
 */
export function showProgress(log: (line: string) => void, describe: (seconds: number) => string): Progress {
  const startedAt = Date.now();
  const terminal = process.stderr.isTTY;
  const show = (): void => {
    const line = describe(Math.round((Date.now() - startedAt) / 1000));
    if (terminal) process.stderr.write(`\r\u001B[K  ${line}`);
    else log(line);
  };
  const timer = setInterval(show, terminal ? TERMINAL_INTERVAL_MS : LOG_INTERVAL_MS);
  timer.unref();
  return {
    end() {
      clearInterval(timer);
      if (terminal) process.stderr.write('\r\u001B[K');
    },
  };
}
