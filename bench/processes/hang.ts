/**
 * Servers that accept all connections and bytes and never answer: an app, a webhook endpoint, IMAP hosts. The first
 * message to the parent contains one `port`. The process answers the message `ports` with all ports, and `open` with
 * the number of open connections.
 */
import { createServer, type AddressInfo, type Socket } from 'node:net';

const PORTS = 12;

const open = new Set<Socket>();
const servers = Array.from({ length: PORTS }, () =>
  createServer((socket) => {
    open.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => open.delete(socket));
    socket.resume();
  }),
);
await Promise.all(
  servers.map((server) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))),
);
const ports = servers.map((server) => (server.address() as AddressInfo).port);
process.send!({ port: ports[0] });
process.on('message', (question) => {
  process.send!(question === 'ports' ? { ports } : { open: open.size });
});
process.on('SIGTERM', () => process.exit(0));
