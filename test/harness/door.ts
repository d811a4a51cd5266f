import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** TCP proxy before PostgreSQL that can cut, silently drop or ignore connections, and lose the answers to commits. */
export interface Door {
  /** URL of the database through the proxy. */
  url: string;
  /** Open connections of clients. */
  open: ReadonlySet<Socket>;
  /** Returns the number of connections so far. */
  taken(): number;
  /** If true, new connections are accepted and never answered. */
  setSilent(silent: boolean): void;
  /** Resets all connections. */
  cut(): void;
  /** Forwards no more data over the open connections, without closing either side. */
  forget(): void;
  /**
   * Resets the connections of the next commits once PostgreSQL has answered, so that their clients do not get the
   * answer.
   */
  loseAnswers(commits: number): void;
  /** Returns the number of commits so far whose answer was lost. */
  lost(): number;
  close(): void;
}

/** Starts a proxy before the PostgreSQL server of a URL. */
export async function openDoor(databaseUrl: string): Promise<Door> {
  const target = new URL(databaseUrl);
  const open = new Set<Socket>();
  const inside = new Set<Socket>();
  const forgotten = new WeakSet<Socket>();
  const unheard = new WeakSet<Socket>();
  let toLose = 0;
  let lost = 0;
  let silent = false;
  let taken = 0;
  const server = createServer((socket) => {
    taken += 1;
    open.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => open.delete(socket));
    if (silent) return void socket.resume();
    const inner = connect(Number(target.port), target.hostname);
    inner.on('error', () => {});
    socket.on('data', (bytes) => {
      if (forgotten.has(socket)) return;
      if (toLose > 0 && bytes.includes('COMMIT')) {
        toLose -= 1;
        unheard.add(socket);
      }
      inner.write(bytes);
    });
    inner.on('data', (bytes) => {
      if (unheard.has(socket)) {
        lost += 1;
        unheard.delete(socket);
        socket.resetAndDestroy();
      } else if (!forgotten.has(socket)) socket.write(bytes);
    });
    inner.on('close', () => forgotten.has(socket) || socket.destroy());
    socket.on('close', () => forgotten.has(socket) || inner.destroy());
    inside.add(inner);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    open,
    taken: () => taken,
    setSilent: (now) => void (silent = now),
    cut: () => open.forEach((socket) => socket.resetAndDestroy()),
    forget: () => open.forEach((socket) => forgotten.add(socket)),
    loseAnswers: (commits) => void (toLose = commits),
    lost: () => lost,
    close() {
      server.close();
      for (const socket of [...open, ...inside]) socket.destroy();
    },
  };
}
