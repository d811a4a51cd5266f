import type { ProcessEnd } from './servers.ts';

/** One process of a managed program, from start to end. A restart creates another one. */
export interface Incarnation {
  pid: number;
  /** Settles when the process has ended for any reason. */
  exited: Promise<ProcessEnd>;
  /** Stops the process in an orderly way. Has no effect if it has ended. */
  stop(): Promise<void>;
}

/** Program whose process can be killed and is restarted at the same address. */
export interface Managed {
  readonly name: string;
  /** Process id; undefined while the program is not running. */
  readonly pid: number | undefined;
  /** Sends a signal to the process and waits for its end. Does nothing if the program is not running. */
  kill(signal: 'SIGKILL' | 'SIGTERM' | 'SIGINT'): Promise<void>;
  /** Starts the program again and resolves when it serves. A running process is first killed (SIGKILL). */
  restart(): Promise<void>;
  /** Stops the program permanently in an orderly way. */
  stop(): Promise<void>;
}

interface ManageOptions {
  /** True if a process that ends unexpectedly is restarted, after a pause that grows. */
  supervise: boolean;
  log: (line: string) => void;
}

const BACKOFF_BASE_MS = 500;
const BACKOFF_CAP_MS = 30_000;
/** Running time (ms) after which a restarted process counts as healthy again. */
const WELL_MS = 60_000;

/**
 * Starts a process and manages its restarts.
 * @param start starts one process; each process has the same address
 */
export async function manage(
  name: string,
  start: () => Promise<Incarnation>,
  { supervise, log }: ManageOptions,
): Promise<Managed> {
  let current: Incarnation | undefined;
  let last: Incarnation | undefined;
  let launching: Promise<void> | undefined;
  let comeback: NodeJS.Timeout | undefined;
  let failures = 0;
  let stopped = false;

  const launch = async (): Promise<void> => {
    const incarnation = await start();
    const startedAt = performance.now();
    current = incarnation;
    last = incarnation;
    void incarnation.exited.then((end) => {
      if (current === incarnation) current = undefined;
      if (performance.now() - startedAt > WELL_MS) failures = 0;
      comeBack(`ended (${end.signal ?? `exit code ${end.code}`})`);
    });
  };

  const comeBack = (why: string): void => {
    if (stopped || !supervise) return;
    const pause = Math.min(BACKOFF_BASE_MS * 2 ** failures, BACKOFF_CAP_MS);
    failures += 1;
    log(`${name} ${why}; starting it again in ${pause / 1000} s`);
    comeback = setTimeout(() => {
      launching = launch().catch((error: Error) => comeBack(`did not start: ${error.message}`));
    }, pause);
  };

  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    const incarnation = current;
    if (!incarnation) return;
    try {
      process.kill(incarnation.pid, signal);
    } catch (error) {
      // The process ended just before the signal. `exited` settles soon.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    await incarnation.exited;
  };

  await launch();
  return {
    name,
    get pid() {
      return current?.pid;
    },
    kill,
    async restart() {
      if (stopped) throw new Error(`${name} was stopped for good`);
      await kill('SIGKILL');
      clearTimeout(comeback);
      await launching;
      if (!current) await launch();
    },
    async stop() {
      stopped = true;
      clearTimeout(comeback);
      await launching;
      await last?.stop();
    },
  };
}
