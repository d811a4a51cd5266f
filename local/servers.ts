import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

const WINDOWS = process.platform === 'win32';

/** Sends the signal and, after ten seconds of being ignored, SIGKILL, once standard input closes. */
const REAPER = `
read -r _
kill -"$2" "$1" 2>/dev/null
n=0
while kill -0 "$1" 2>/dev/null; do
  n=$((n + 1))
  if [ "$n" -gt 100 ]; then kill -KILL "$1" 2>/dev/null; exit; fi
  sleep 0.1
done`;

/** How a process ended: its exit code, or the signal that ended it. */
export interface ProcessEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A server process that cannot outlive the process that started it. */
export interface ServerProcess {
  pid: number;
  /** For its streams and its messages, where `stdio` asked for them. */
  child: ChildProcess;
  /** Settles when the process has ended, for whatever reason; never rejects. */
  exited: Promise<ProcessEnd>;
  /** True once it has ended. */
  readonly ended: boolean;
  /** Asks it to stop, insists with SIGKILL after `graceMs`, and waits for its end. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * A TCP port on 127.0.0.1 that no other caller of this function gets for the next minute.
 *
 * The port is left in TIME_WAIT, which keeps the system from choosing it again while a server that asks
 * for it by number still gets it. Two test runs side by side would otherwise be given the same one.
 */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  if (!WINDOWS) {
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const client = connect(port, '127.0.0.1').on('error', () => undefined);
    const [socket] = await accepted;
    // The side that closes first is the side that waits.
    socket.on('error', () => undefined).end();
    socket.resume();
    await once(client.resume(), 'end');
    client.destroy();
  }
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Whether no program listens on a TCP port of this machine. */
export async function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * Starts a server in a process group of its own and ties its life to this process.
 *
 * Its own group, because Ctrl-C reaches every process of the terminal's group at once: a database that
 * stops before the programs that are still draining turns an orderly shutdown into a row of errors. Tied by
 * a small shell that waits for a pipe to close, which happens however this process ends, kill -9 included.
 *
 * @param options.stopSignal the signal that asks this server for an orderly stop
 * @param options.graceMs milliseconds to wait for it before SIGKILL
 * @throws when the program cannot be started
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
