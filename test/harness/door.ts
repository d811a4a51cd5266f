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
  /** Carries nothing more over the open connections, and tells neither side. */
  forget(): void;
  close(): void;
}

/** Opens a door before the PostgreSQL of a URL. */
export async function openDoor(databaseUrl: string): Promise<Door> {
  const target = new URL(databaseUrl);
  const open = new Set<Socket>();
  const inside = new Set<Socket>();
  const forgotten = new WeakSet<Socket>();
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
    socket.on('data', (bytes) => forgotten.has(socket) || inner.write(bytes));
    inner.on('data', (bytes) => forgotten.has(socket) || socket.write(bytes));
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
    close() {
      server.close();
      for (const socket of [...open, ...inside]) socket.destroy();
    },
  };
}
