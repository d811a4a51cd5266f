import type { IncomingMessage } from 'node:http';

/**
 * Passes over what is left of a body that is refused half-way. Node does so by itself only where nobody has begun to read: a compressed body that was given up would
 * stay in the way of the next request on its connection, which behind a proxy is somebody else's.
 */
export function discardBody(request: IncomingMessage): void {
  request.unpipe();
  request.resume();
}
