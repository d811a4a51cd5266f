import type { IncomingMessage } from 'node:http';

/**
 * Reads and drops the rest of a request body that was refused after reading had started. Node drops a body only if
 * nothing of it was read. An unread compressed body blocks the next request on its connection, which behind a proxy
 * belongs to another client.
 */
export function discardBody(request: IncomingMessage): void {
  request.unpipe();
  request.resume();
}
