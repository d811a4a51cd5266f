import type { Socket } from 'node:net';
import { Client } from 'undici';
import type { Dialed } from './dial.ts';

/** One HTTP/1.1 connection to a checked address. Its client never opens another one. */
export interface Connection {
  origin: string;
  address: string;
  /** On the monotonic clock, ms. */
  openedAt: number;
  client: Client;
  socket: Socket;
}

interface PoolLimits {
  /** A connection older than this is not used again, so that a name that moved is resolved and checked afresh. */
  maxAgeMs: number;
  /** How long an unused connection is kept when the server does not say. A server's keep-alive is followed up to 30 s. */
  idleMs: number;
  /** Unused connections kept over all origins; the one unused for longest goes first. */
  maxIdle: number;
}

/** Response headers larger than this many bytes end the connection. */
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_SERVER_IDLE_MS = 30_000;

/** The pooled connection closed before anything was written to it, so the request may go out on another one. */
export class StaleConnectionError extends Error {
  override readonly name = 'StaleConnectionError';
}

/**
 * Connections waiting for their next request. One undici client per connection, instead of undici's own pool,
 * because that one dials by itself: here every dial belongs to one request, with its deadline, its
 * timings and its reason for failing.
 */
export class ConnectionPool {
  readonly #limits: PoolLimits;
  readonly #idle: Connection[] = [];
  #closed = false;

  constructor(limits: PoolLimits) {
    this.#limits = limits;
  }

  /** Wraps a dialed socket. Hand it back with `give`, or `discard` it when the exchange did not end cleanly. */
  open(origin: string, { socket, address }: Dialed): Connection {
    const client = new Client(origin, {
      connect: (_options, callback) => {
        // The client expects its answer in a later turn, as a real connect would give it.
        queueMicrotask(() => {
          if (socket.destroyed) callback(new StaleConnectionError(), null);
          else callback(null, socket);
        });
      },
      pipelining: 1,
      maxHeaderSize: MAX_HEADER_BYTES,
      // The request's total timeout covers both.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: this.#limits.idleMs,
      keepAliveMaxTimeout: MAX_SERVER_IDLE_MS,
    });
    const connection = { origin, address, openedAt: performance.now(), client, socket };
    socket.once('close', () => this.#forget(connection));
    return connection;
  }

  /** A connection to `origin` that is open and young enough, the most recently used one, if there is any. */
  take(origin: string): Connection | undefined {
    for (;;) {
      const index = this.#idle.findLastIndex((connection) => connection.origin === origin);
      if (index === -1) return undefined;
      const [connection] = this.#idle.splice(index, 1) as [Connection];
      if (this.#isReusable(connection)) return connection;
      this.discard(connection);
    }
  }

  /** Keeps `connection` for the next request if the limits allow it. */
  give(connection: Connection): void {
    if (this.#closed || !this.#isReusable(connection)) return this.discard(connection);
    this.#idle.push(connection);
    const oldest = this.#idle.length > this.#limits.maxIdle ? this.#idle.shift() : undefined;
    if (oldest) this.discard(oldest);
  }

  /** Closes `connection` at once, even in the middle of an exchange. */
  discard(connection: Connection): void {
    void destroy(connection);
  }

  /** Closes every unused connection now and each one in use as it is given back. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#idle.splice(0).map(destroy));
  }

  #isReusable(connection: Connection): boolean {
    return !connection.socket.destroyed && performance.now() - connection.openedAt < this.#limits.maxAgeMs;
  }

  #forget(connection: Connection): void {
    const index = this.#idle.indexOf(connection);
    // A connection in use is discarded by its request: destroying it here would hide why it closed.
    if (index === -1) return;
    this.#idle.splice(index, 1);
    this.discard(connection);
  }
}

async function destroy({ client, socket }: Connection): Promise<void> {
  await client.destroy(null);
  // The client may never have taken the socket over: it does so with the first request it accepts.
  socket.destroy();
}
