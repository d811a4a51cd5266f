import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startChild } from '../../local/child.ts';
import { manage, type Managed } from '../../local/managed.ts';
import { startLocalStack, type LocalStack } from '../../local/stack.ts';
import { freePort } from '../../local/servers.ts';

const WATCH_MS = 500;
const RESTART_TRIES = 20;

/** Process that can be killed and restarted with its data on disk. */
export interface Part {
  name: string;
  readonly pid: number | undefined;
  /** URL of a worker's /health and /metrics. */
  readonly url?: string;
  /** Sends SIGKILL and waits for the end of the process. */
  kill(): Promise<void>;
  /**
   * Restarts the process and waits until it serves requests. Repeats the start while a process that it needs is down.
   */
  restart(): Promise<void>;
}

/** Local installation that keeps all its data on disk and has several workers. */
export interface Parts {
  /** Settings of the processes, also for code in this process that reads their data. */
  env: Record<string, string>;
  apiUrl: string;
  /** Process with all servers. */
  api: Part;
  workers: Part[];
  temporal: Part;
  postgres: Part;
  /** Descriptions of unexpected ends of processes; must stay empty. */
  deaths: string[];
  /** Folder of the data and of the log of every process. */
  folder: string;
  stop(options: { keepFolder: boolean }): Promise<void>;
}

export interface PartsOptions {
  /** Number of worker processes, at least 1. */
  workers: number;
  /** Settings of the processes in addition to the addresses. */
  env: Record<string, string>;
  /** Returns settings of all workers but the first, which get those of the installation. */
  furtherEnv?: (env: Record<string, string>) => Promise<Record<string, string>>;
  log: (line: string) => void;
}

/** Starts an installation that keeps its state (PostgreSQL with fsync, Temporal in a file), and the other workers. */
export async function startParts({ workers, env: settings, furtherEnv, log }: PartsOptions): Promise<Parts> {
  const folder = await mkdtemp(join(tmpdir(), 'heron-faults-'));
  // PostgreSQL may run under another account, which must be able to enter the folder.
  await chmod(folder, 0o755);
  const stack = await startLocalStack({
    dataDir: folder,
    persistent: true,
    headless: true,
    supervise: false,
    env: settings,
    log,
  });
  const extra: (Managed & { url: string })[] = [];
  const deaths: string[] = [];
  const parts: Part[] = [];
  let watch: NodeJS.Timeout | undefined;
  const stop = async ({ keepFolder }: { keepFolder: boolean }): Promise<void> => {
    clearInterval(watch);
    await Promise.all(extra.map((worker) => worker.stop()));
    await stack.stop();
    if (!keepFolder) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };

  try {
    const env = { ...stack.env, ...(await furtherEnv?.(stack.env)) };
    for (let number = 2; number <= workers; number += 1) extra.push(await furtherWorker(stack, env, number, log));
    const part = (managed: Managed & { url?: string }): Part => {
      const made = killable(managed, deaths);
      parts.push(made);
      return made;
    };
    const { serve, worker, temporal, postgres } = stack.processes;
    const all: Parts = {
      env: stack.env,
      apiUrl: stack.urls.api,
      deaths,
      folder,
      stop,
      api: part(serve),
      workers: [worker, ...extra].map(part),
      temporal: part(temporal!),
      postgres: part(postgres!),
    };
    watch = setInterval(() => parts.forEach((one) => (one as Watched).look()), WATCH_MS);
    return all;
  } catch (error) {
    await stop({ keepFolder: true });
    throw error;
  }
}

async function furtherWorker(
  stack: LocalStack,
  env: Record<string, string>,
  number: number,
  log: (line: string) => void,
): Promise<Managed & { url: string }> {
  const name = `worker-${number}`;
  const port = await freePort();
  const managed = await manage(
    name,
    () =>
      startChild('worker', {
        env: { ...process.env, ...env, WORKER_PORT: String(port) },
        logFile: join(stack.dataDir, 'logs', `${name}.log`),
        graceMs: 15_000,
      }),
    { supervise: false, log },
  );
  return Object.assign(managed, { url: `http://127.0.0.1:${port}` });
}

interface Watched extends Part {
  /** Detects that the process ended unexpectedly, records this, and restarts the process as a supervisor does. */
  look(): void;
}

function killable(managed: Managed & { url?: string }, deaths: string[]): Watched {
  // True while the process is down on purpose or restarting.
  let away = false;
  let comingBack: Promise<void> | undefined;
  const comeBack = async (): Promise<void> => {
    for (let tries = 1; ; tries += 1) {
      try {
        await managed.restart();
        away = false;
        return;
      } catch (error) {
        if (tries === RESTART_TRIES) throw error;
        await sleep(WATCH_MS);
      }
    }
  };
  // Two concurrent calls share one restart.
  const restart = (): Promise<void> =>
    (comingBack ??= comeBack().finally(() => {
      comingBack = undefined;
    }));
  return {
    name: managed.name,
    ...(managed.url === undefined ? {} : { url: managed.url }),
    get pid() {
      return managed.pid;
    },
    async kill() {
      await comingBack;
      away = true;
      await managed.kill('SIGKILL');
    },
    restart,
    look() {
      if (away || managed.pid !== undefined) return;
      away = true;
      deaths.push(`${managed.name} ended by itself`);
      restart().catch((error: Error) => deaths.push(`${managed.name} did not come back: ${error.message}`));
    },
  };
}
