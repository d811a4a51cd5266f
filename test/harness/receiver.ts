import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { recordRead } from './recorded-reads.ts';

/** Request as received, before parsing. */
export interface ReceivedRequest {
  method: string;
  /** Path with query. */
  path: string;
  /** Headers, with names in lower case. */
  headers: IncomingHttpHeaders;
  /** Exact bytes of the body, which a signature covers. */
  raw: Buffer;
  /** Body parsed as JSON; undefined if it is not JSON. */
  json: any;
  /** Time (epoch ms) at which the body was complete. */
  receivedAt: number;
  /** Number of the request at this receiver, from 1. */
  index: number;
}

/** Answer of a receiver. `hang` accepts the request and never answers; `reset` closes the connection. */
export type ReceiverAnswer =
  | { status: number; body?: string | Buffer | object; headers?: Record<string, string>; delayMs?: number }
  | 'hang'
  | 'reset';

export type Responder = (request: ReceivedRequest) => ReceiverAnswer | Promise<ReceiverAnswer>;

/** Real HTTP server for webhook deliveries. It records requests and answers as the test configures. */
export interface Receiver {
  /** Origin of the receiver, without a trailing slash. */
  url: string;
  port: number;
  /** All requests in order of completion. */
  requests: ReceivedRequest[];
  /** Number of open requests. */
  readonly open: number;
  /** Sets the answer from now on: a status, a fixed answer, or a function of the request. */
  respond(answer: number | ReceiverAnswer | Responder): void;
  /** Accepts requests without answering from now on. */
  hang(): void;
  /** Clears the recorded requests. */
  clear(): void;
  /** Waits until `count` requests have arrived in total and returns them; fails after `timeoutMs`. */
  received(count: number, timeoutMs?: number): Promise<ReceivedRequest[]>;
  /** Closes the server and every connection, including hanging ones. */
  stop(): Promise<void>;
}

/** Starts a receiver on a free loopback port (or `port`). It answers 204 until the test sets another answer. */
export async function startReceiver(
  options: { port?: number; respond?: number | ReceiverAnswer | Responder } = {},
): Promise<Receiver> {
  let responder = asResponder(options.respond ?? 204);
  let arrivals: ReceivedRequest[] = [];
  let index = 0;
  let open = 0;
  const waiting = new Set<() => void>();

  async function handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
    const raw = Buffer.concat(chunks);
    index += 1;
    const request: ReceivedRequest = {
      method: message.method ?? '',
      path: message.url ?? '',
      headers: message.headers,
      raw,
      json: parsed(raw),
      receivedAt: Date.now(),
      index,
    };
    arrivals.push(request);
    for (const wake of waiting) wake();
    const answer = await responder(request);
    if (answer === 'hang') return;
    if (answer === 'reset') {
      message.socket.destroy();
      return;
    }
    if (answer.delayMs) await new Promise((resolve) => setTimeout(resolve, answer.delayMs));
    write(response, answer);
  }

  const server = createServer((message, response) => {
    open += 1;
    response.once('close', () => (open -= 1));
    // If the connection breaks while the body is read, only the sender has to handle it.
    handle(message, response).catch(() => message.socket.destroy());
  });
  server.keepAliveTimeout = 30_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    get requests() {
      recordRead('requests', () => arrivals.map(({ method, path }) => `${method} ${path}`));
      return arrivals;
    },
    get open() {
      return open;
    },
    respond(answer) {
      responder = asResponder(answer);
    },
    hang() {
      responder = () => 'hang';
    },
    clear() {
      arrivals = [];
    },
    received(count, timeoutMs = 30_000) {
      return new Promise((resolve, reject) => {
        const settle = () => {
          clearTimeout(timer);
          waiting.delete(look);
        };
        const look = () => {
          if (arrivals.length < count) return;
          settle();
          resolve(arrivals);
        };
        const timer = setTimeout(() => {
          settle();
          reject(new Error(`${arrivals.length} of ${count} requests came within ${timeoutMs} ms`));
        }, timeoutMs);
        waiting.add(look);
        look();
      });
    },
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function asResponder(answer: number | ReceiverAnswer | Responder): Responder {
  if (typeof answer === 'function') return answer;
  const fixed = typeof answer === 'number' ? { status: answer } : answer;
  return () => fixed;
}

function write(response: ServerResponse, answer: Exclude<ReceiverAnswer, string>): void {
  const isObject = typeof answer.body === 'object' && !Buffer.isBuffer(answer.body);
  response.writeHead(answer.status, { ...(isObject ? { 'content-type': 'application/json' } : {}), ...answer.headers });
  response.end(isObject ? JSON.stringify(answer.body) : (answer.body as string | Buffer | undefined));
}

function parsed(raw: Buffer): unknown {
  try {
    return JSON.parse(raw.toString('utf8'));
  } catch {
    return undefined;
  }
}
