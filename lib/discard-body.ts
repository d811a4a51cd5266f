import type { IncomingMessage } from 'node:http';

/**
 * Reads and drops the rest of a request body that is refused half-way. Node does so by itself only if reading has not
 * started. Otherwise an unread compressed body blocks the next request on its connection, which behind a proxy belongs
 * to another client.
 */
export function discardBody(request: IncomingMessage): void {
  request.unpipe();
  request.resume();
}
