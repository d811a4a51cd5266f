/**
 * Servers that accept every connection and byte and never answer: an app, a webhook endpoint, IMAP hosts. The first
 * message contains one `port`. The message `ports` returns all ports, and `open` the number of open connections.
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
