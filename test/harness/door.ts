import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A port before PostgreSQL that can cut, forget or ignore connections. */
export interface Door {
  /** URL of the database through the door. */
  url: string;
  /** Open connections of clients. */
  open: ReadonlySet<Socket>;
  /** Returns the number of connections so far. */
  taken(): number;
  /** With true, new connections are accepted and never answered. */
  setSilent(silent: boolean): void;
  /** Resets all connections. */
  cut(): void;
  /** Ends all connections at the server, and keeps them open and silent for their clients, as a lost host does. */
  forget(): void;
  close(): void;
}

/** Opens a door before the PostgreSQL of a URL. */
export async function openDoor(databaseUrl: string): Promise<Door> {
  const target = new URL(databaseUrl);
  const open = new Map<Socket, Socket | undefined>();
  let silent = false;
  let taken = 0;
  const server = createServer((socket) => {
    taken += 1;
    open.set(socket, undefined);
    socket.on('error', () => {});
    socket.on('close', () => {
      open.get(socket)?.destroy();
      open.delete(socket);
    });
    if (silent) return void socket.resume();
    const inner = connect(Number(target.port), target.hostname);
    open.set(socket, inner);
    inner.on('error', () => {});
    socket.on('data', (bytes) => open.get(socket)?.write(bytes));
    inner.on('data', (bytes) => void socket.write(bytes));
    inner.on('close', () => {
      if (open.get(socket)) socket.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    get open() {
      return new Set(open.keys());
    },
    taken: () => taken,
    setSilent: (now) => void (silent = now),
    cut: () => [...open.keys()].forEach((socket) => socket.resetAndDestroy()),
    forget() {
      for (const [socket, inner] of open) {
        open.set(socket, undefined);
        inner?.removeAllListeners('data').destroy();
      }
    },
    close() {
      server.close();
      for (const socket of open.keys()) socket.destroy();
    },
  };
}
