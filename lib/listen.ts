import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Interval (ms) at which a server that is being closed closes its idle connections. */
const SWEEP_MS = 50;

export interface Listening {
  server: Server;
  url: string;
  port: number;
  /**
   * Refuses new connections, lets open requests finish, and closes idle keep-alive connections.
   * @param withinMs time (ms) after which the connections of open requests are cut, such as for a client that does not
   * read its answer. Unlimited by default
   */
  close(withinMs?: number): Promise<void>;
}

/** Starts an HTTP server; port 0 picks a free port. The handler must answer its own errors and never reject. */
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
            // Without this sweep, a connection that becomes idle after its answer would stay open.
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
