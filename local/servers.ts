import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

const WINDOWS = process.platform === 'win32';

/**
 * Shell script that waits until its standard input is closed. Then it sends the signal and, after ten seconds, SIGKILL.
 */
const REAPER = `
read -r _
kill -"$2" "$1" 2>/dev/null
n=0
while kill -0 "$1" 2>/dev/null; do
  n=$((n + 1))
  if [ "$n" -gt 100 ]; then kill -KILL "$1" 2>/dev/null; exit; fi
  sleep 0.1
done`;

/** End of a process: its exit code, or the signal that ended it. */
export interface ProcessEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** Server process that cannot outlive the process that started it. */
export interface ServerProcess {
  pid: number;
  /** Child process. It has streams and a message channel if `stdio` requests them. */
  child: ChildProcess;
  /** Settles when the process has ended for any reason; never rejects. */
  exited: Promise<ProcessEnd>;
  /** True once the process has ended. */
  readonly ended: boolean;
  /** Sends the stop signal and, after `graceMs`, SIGKILL. Resolves when the process has ended. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Returns a TCP port on 127.0.0.1 that no other caller gets for the next minute. The port stays in TIME_WAIT: the
 * system does not choose it again, but a server can bind it by its number. So two concurrent test runs never get the
 * same port.
 */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  if (!WINDOWS) {
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const client = connect(port, '127.0.0.1').on('error', () => undefined);
    const [socket] = await accepted;
    // Closes the server's side first, because the side that closes first enters TIME_WAIT.
    socket.on('error', () => undefined).end();
    socket.resume();
    await once(client.resume(), 'end');
    client.destroy();
  }
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Returns true if no program listens on a TCP port of this machine. */
export async function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * Starts a server in its own process group and ties its lifetime to this process. The group is separate because Ctrl-C
 * reaches all processes of the terminal's group, and a database that stops before its clients causes errors. A small
 * shell waits until a pipe closes. The pipe closes when this process ends in any way, even by kill -9.
 * @param options.stopSignal signal that requests an orderly stop
 * @param options.graceMs time (ms) to wait for it before SIGKILL
 * @throws Error when the program cannot be started
 */
export async function spawnServer(
  command: string,
  args: readonly string[],
  options: SpawnOptions & { stopSignal: NodeJS.Signals; graceMs: number },
): Promise<ServerProcess> {
  const { stopSignal, graceMs, ...spawnOptions } = options;
  const child = spawn(command, args, { ...spawnOptions, detached: !WINDOWS, windowsHide: true });
  await once(child, 'spawn');
  const pid = child.pid!;
  const untie = WINDOWS ? tieByExitHook(() => child.kill()) : tieByReaper(pid, stopSignal);

  let ended = false;
  const exited = new Promise<ProcessEnd>((resolve) => {
    child.once('exit', (code, signal) => {
      ended = true;
      untie();
      resolve({ code, signal });
    });
  });

  return {
    pid,
    child,
    exited,
    get ended() {
      return ended;
    },
    async stop() {
      if (!ended) {
        child.kill(stopSignal);
        const insist = setTimeout(() => child.kill('SIGKILL'), graceMs);
        await exited;
        clearTimeout(insist);
      }
    },
  };
}

function tieByReaper(pid: number, signal: NodeJS.Signals): () => void {
  const reaper = spawn('sh', ['-c', REAPER, 'heron-reaper', String(pid), signal.replace('SIG', '')], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  reaper.on('error', () => undefined);
  reaper.stdin.on('error', () => undefined);
  reaper.unref();
  (reaper.stdin as Socket).unref();
  return () => reaper.kill('SIGKILL');
}

function tieByExitHook(kill: () => void): () => void {
  process.once('exit', kill);
  return () => process.off('exit', kill);
}
