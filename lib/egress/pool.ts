import type { Socket } from 'node:net';
import { Client } from 'undici';
import type { Dialed } from './dial.ts';
import { skipContinue } from './skip-continue.ts';

/** One HTTP/1.1 connection to a checked address. Its undici client never opens another connection. */
export interface Connection {
  origin: string;
  address: string;
  /** Time of opening on the monotonic clock (ms). */
  openedAt: number;
  client: Client;
  socket: Socket;
  /** Prepares the connection for the next answer. Must be called before each request. */
  awaitHead: () => void;
}

interface PoolLimits {
  /**
   * Maximum age (ms) of a reused connection. After that the name is resolved and checked again, because its address may
   * have changed.
   */
  maxAgeMs: number;
  /**
   * Time (ms) for which an unused connection is kept. The keep-alive time that a server states takes precedence, up to
   * 30 s.
   */
  idleMs: number;
  /**
   * Maximum number of unused connections over all origins. Above it, the connection unused for the longest time is
   * closed.
   */
  maxIdle: number;
}

/** Maximum size (bytes) of response headers. Larger headers end the connection. */
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_SERVER_IDLE_MS = 30_000;

/**
 * Thrown when the pooled connection closed before any byte was written to it. The request may be sent on another
 * connection.
 */
export class StaleConnectionError extends Error {
  override readonly name = 'StaleConnectionError';
}

/**
 * Pool of connections that wait for their next request. It has one undici client per connection instead of undici's own
 * pool, which decides itself when to open connections. So every new connection belongs to one request, with its
 * deadline, timings and failure reason.
 */
export class ConnectionPool {
  readonly #limits: PoolLimits;
  readonly #idle: Connection[] = [];
  #closed = false;

  constructor(limits: PoolLimits) {
    this.#limits = limits;
  }

  /**
   * Wraps a connected socket. The caller returns the connection with `give`, or with `discard` if the exchange did not
   * end cleanly.
   */
  open(origin: string, { socket, address }: Dialed): Connection {
    const client = new Client(origin, {
      connect: (_options, callback) => {
        // undici's client expects the callback asynchronously, as after a real connect.
        queueMicrotask(() => {
          if (socket.destroyed) callback(new StaleConnectionError(), null);
          else callback(null, socket);
        });
      },
      pipelining: 1,
      maxHeaderSize: MAX_HEADER_BYTES,
      // No separate timeout is needed, because the timeout of the request includes its headers and body.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: this.#limits.idleMs,
      keepAliveMaxTimeout: MAX_SERVER_IDLE_MS,
    });
    const connection = {
      origin,
      address,
      openedAt: performance.now(),
      client,
      socket,
      awaitHead: skipContinue(socket),
    };
    socket.once('close', () => this.#forget(connection));
    return connection;
  }

  /** Takes a connection to `origin` that is open and young enough, if any. Prefers the most recently used. */
  take(origin: string): Connection | undefined {
    for (;;) {
      const index = this.#idle.findLastIndex((connection) => connection.origin === origin);
      if (index === -1) return undefined;
      const [connection] = this.#idle.splice(index, 1) as [Connection];
      if (this.#isReusable(connection)) return connection;
      this.discard(connection);
    }
  }

  /** Keeps `connection` for the next request if the limits of the pool allow it. */
  give(connection: Connection): void {
    if (this.#closed || !this.#isReusable(connection)) return this.discard(connection);
    this.#idle.push(connection);
    const oldest = this.#idle.length > this.#limits.maxIdle ? this.#idle.shift() : undefined;
    if (oldest) this.discard(oldest);
  }

  /** Closes `connection` immediately, even during an exchange. */
  discard(connection: Connection): void {
    void destroy(connection);
  }

  /** Closes every unused connection now, and each connection in use when it is returned. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#idle.splice(0).map(destroy));
  }

  #isReusable(connection: Connection): boolean {
    return !connection.socket.destroyed && performance.now() - connection.openedAt < this.#limits.maxAgeMs;
  }

  #forget(connection: Connection): void {
    const index = this.#idle.indexOf(connection);
    // Ignores a connection in use. Its own request discards it; destroying it here would hide the reason of the
    // closure.
    if (index === -1) return;
    this.#idle.splice(index, 1);
    this.discard(connection);
  }
}

async function destroy({ client, socket }: Connection): Promise<void> {
  await client.destroy(null);
  // undici's client may not own the socket yet: it takes ownership with the first request.
  socket.destroy();
}
