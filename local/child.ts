import { execFile } from 'node:child_process';
import { mkdirSync, openSync, closeSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { TYPESCRIPT } from './typescript.ts';
import { spawnServer } from './servers.ts';
import type { Incarnation } from './managed.ts';
import type { ProcessMessage, ProcessName, ReadyMessage } from '../deploy/processes.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Maximum time (ms) without output during a start. A start that is silent for longer has failed. */
const SILENCE_MS = 120_000;
/** Time (ms) by which a process may exceed its own time limit for stopping before it is killed. */
const EXTRA_GRACE_MS = 5_000;
const LAST_LINES = 15;

interface ChildOptions {
  env: NodeJS.ProcessEnv;
  /** File that receives all output of the process. */
  logFile: string;
  /** Receives every line of output: JSON log lines and others. */
  onLine?: ((line: string) => void) | undefined;
  /** Receives each stage of the start, such as "waiting for the database". */
  onStage?: ((stage: string) => void) | undefined;
  /**
   * Maximum time (ms) without output during the start. Each stage and each line restarts it. Defaults to two minutes.
   */
  silenceMs?: number | undefined;
  /** Time limit (ms) for stopping the process. */
  graceMs: number;
  /** Folder of the sources that the process runs. Defaults to the sources of this process. */
  root?: string | undefined;
}

/**
 * Runs one of Heron's processes as a child, and resolves once it serves. A slow start is tolerated as long as it
 * produces output.
 * @throws Error with the reason when the process ends early, or with its last stage when it was silent for `silenceMs`
 */
export async function startChild(
  name: ProcessName,
  { root = ROOT, ...options }: ChildOptions,
): Promise<Incarnation & ReadyMessage> {
  mkdirSync(dirname(options.logFile), { recursive: true });
  const file = openSync(options.logFile, 'a', 0o600);
  const runner = join(root, 'bundle', 'run.mjs');
  const server = await spawnServer(process.execPath, [runner, join(root, 'deploy', 'heron.ts'), name], {
    cwd: root,
    // Limits the number of malloc's memory arenas. The C library of most Linux systems creates one per thread, which
    // idle processes keep.
    env: { MALLOC_ARENA_MAX: '2', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    stopSignal: 'SIGTERM',
    graceMs: options.graceMs + EXTRA_GRACE_MS,
  });
  const kept: string[] = [];
  let stage = 'starting';
  let giveUp: () => void = () => {};
  const silent = new Promise<undefined>((resolve) => {
    giveUp = () => resolve(undefined);
  });
  const silenceMs = options.silenceMs ?? SILENCE_MS;
  const patience = setTimeout(giveUp, silenceMs);
  const drained = Promise.all(
    [server.child.stdout!, server.child.stderr!].map(
      (stream) =>
        new Promise<void>((resolve) => {
          createInterface({ input: stream })
            .on('line', (line) => {
              writeSync(file, `${line}\n`);
              patience.refresh();
              kept.push(line);
              if (kept.length > LAST_LINES) kept.shift();
              options.onLine?.(line);
            })
            .on('close', resolve);
        }),
    ),
  );
  void drained.then(() => closeSync(file));

  const ready = new Promise<ReadyMessage['ready']>((resolve) => {
    server.child.on('message', (message: ProcessMessage) => {
      if ('ready' in message) return resolve(message.ready);
      patience.refresh();
      stage = message.stage;
      options.onStage?.(stage);
    });
  });
  const answer = await Promise.race([ready, server.exited.then(() => undefined), silent]);
  clearTimeout(patience);
  if (!answer) {
    const { ended } = server;
    await server.stop();
    await drained;
    if (ended) throw new Error(`${name} did not start: ${reasonIn(kept)}`);
    throw new Error(
      `${name} did not start: it was silent for ${silenceMs / 1000} s while ${stage}. Its log is ${options.logFile}.`,
    );
  }
  return { pid: server.pid, exited: server.exited, stop: () => server.stop(), ready: answer };
}

const run = promisify(execFile);

/**
 * Runs one of the operator's commands (`heron migrate`) and returns its output.
 * @throws Error with its standard error output when it fails
 */
export async function runCommand(args: readonly string[], env: Record<string, string>): Promise<string> {
  try {
    const { stdout } = await run(process.execPath, [...TYPESCRIPT, join(ROOT, 'deploy', 'heron.ts'), ...args], {
      cwd: ROOT,
      env: { ...process.env, ...env },
      maxBuffer: Infinity,
    });
    return stdout;
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    throw new Error(stderr?.trim().replace(/^heron: /, '') || message, { cause: error });
  }
}

/** Returns the message of the last fatal log line, or else the last output. */
function reasonIn(lines: readonly string[]): string {
  const fatal = lines.map(readLogLine).findLast((entry) => entry && entry.level >= 60);
  if (fatal) return [fatal.msg, fatal.err?.message].filter(Boolean).join(': ');
  return lines.length === 0 ? 'it ended without a word' : `it said\n${lines.join('\n')}`;
}

interface LogEntry {
  level: number;
  msg: string;
  err?: { message: string };
  mail?: { to: string; subject: string; text: string };
}

/** Parses a JSON log line of one of Heron's processes; undefined for any other line. */
export function readLogLine(line: string): LogEntry | undefined {
  try {
    const entry = JSON.parse(line) as Partial<LogEntry>;
    return typeof entry.level === 'number' ? { ...entry, level: entry.level, msg: entry.msg ?? '' } : undefined;
  } catch {
    return undefined;
  }
}
