/**
 * HTTP server that receives webhooks. It records the first arrival and the count of each event id. Requests below /hang
 * are never answered. It answers the message `dump` with the records, and `count` with the number of events. `reset`
 * clears the records.
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
