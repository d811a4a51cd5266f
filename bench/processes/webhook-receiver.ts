/**
 * An HTTP server that takes webhooks. It keeps when each event id came first and how often it came; paths that begin with
 * /hang are taken and never answered. Asked `dump`, it answers with what it has; `count` with how many events; `reset` starts anew.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

let seen = new Map<string, { at: number; times: number }>();

const server = createServer((request, response) => {
  const now = performance.timeOrigin + performance.now();
  request.resume();
  if (request.url!.startsWith('/hang')) return;
  const id = request.headers['x-service-event-id'] as string;
  const known = seen.get(id);
  if (known) known.times += 1;
  else seen.set(id, { at: now, times: 1 });
  request.on('end', () => {
    response.statusCode = 204;
    response.end();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
process.on('message', (question) => {
  if (question === 'dump') {
    process.send!([...seen].map(([id, { at, times }]) => [id, at, times]));
    return;
  }
  if (question === 'reset') seen = new Map();
  process.send!({ count: seen.size });
});
