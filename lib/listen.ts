import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How often (ms) a closing server closes connections that have become idle. */
const SWEEP_MS = 50;

export interface Listening {
  server: Server;
  url: string;
  port: number;
  /**
   * Refuses new connections, lets open requests finish, closes idle keep-alive connections.
   * @param withinMs how long requests may take; then their connections are cut, as for a client that does not read its answer. Without end where not given
   */
  close(withinMs?: number): Promise<void>;
}

/** Starts an HTTP server; port 0 picks a free one. The handler answers its own errors: it never rejects. */
export function listenHttp(
  handler: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
  host: string,
  port: number,
): Promise<Listening> {
  const server = createServer((request, response) => void handler(request, response));
  server.keepAliveTimeout = 65_000;
  server.headersTimeout = 30_000;
  server.requestTimeout = 300_000;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      const actual = (server.address() as AddressInfo).port;
      resolve({
        server,
        port: actual,
        url: `http://${host.includes(':') ? `[${host}]` : host}:${actual}`,
        close: (withinMs) =>
          new Promise((done) => {
            const cut = withinMs === undefined ? undefined : setTimeout(() => server.closeAllConnections(), withinMs);
            // A connection whose request has just been answered is idle from then on, and would be kept alive.
            const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
            server.close(() => {
              clearInterval(sweep);
              clearTimeout(cut);
              done();
            });
            server.closeIdleConnections();
          }),
      });
    });
  });
}
