import { createSecureContext, rootCertificates } from 'node:tls';
import { dial, untilAborted, type DialOptions, type DialTimings } from './dial.ts';
import { EgressError, errorCode, type EgressErrorKind, type EgressPhase } from './errors.ts';
import { ConnectionPool, StaleConnectionError, type Connection } from './pool.ts';
import { createDnsLookup, lookupBySystem, resolveChecked, type Lookup } from './resolve.ts';
import { bareHostname, checkOutboundUrl } from './url.ts';
import { message } from '../../messages/index.ts';

export interface EgressRequest {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: string | URL;
  /**
   * Request headers. Headers that the egress sets itself, such as Host, Connection and Content-Length, are not allowed.
   */
  headers?: Readonly<Record<string, string>>;
  body?: Buffer | string;
  /** Timeout (ms) of the whole request: DNS, connecting, TLS, headers and body. */
  timeoutMs: number;
  /** Maximum number of response body bytes that are read. Further bytes are not received. */
  maxResponseBytes: number;
  /** Set to get a response with an incomplete body if the body breaks off or is not complete in time. */
  acceptPartialBody?: true;
  signal?: AbortSignal;
}

/** The response with any status. Redirects are not followed. */
export interface EgressResponse {
  status: number;
  /** Response headers by lower-case name. A header that was sent several times is an array. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Body as sent. Content encodings are not decoded. */
  body: Buffer;
  /** True if the body was cut at `maxResponseBytes`, or broke and `acceptPartialBody` is set. */
  truncated: boolean;
  timings: EgressTimings;
  /** Address of the connection. For operators only, never for tenants. */
  address: string;
  /** True if a pooled connection was used, so that the timings of connecting are 0. */
  reused: boolean;
}

/** Durations in milliseconds. `tlsMs` is absent if there was no handshake. */
interface EgressTimings extends DialTimings {
  totalMs: number;
}

/** Measurement for counters and histograms, passed to `onSettled`. Contains no host and no address. */
export interface EgressMeasurement {
  outcome: 'response' | EgressErrorKind;
  status?: number;
  reused: boolean;
  totalMs: number;
}

export interface EgressOptions {
  /** True to allow any scheme, host, port and address (ALLOW_UNSAFE_WEBHOOK_URLS). For development only. */
  allowUnsafe: boolean;
  /** Name resolution. By default a direct DNS query, or the system's lookup with `allowUnsafe`. */
  lookup?: Lookup;
  /** PEM certificates trusted in addition to the built-in authorities, for receivers with a private authority. */
  extraCa?: readonly string[];
  onSettled?: (measurement: EgressMeasurement) => void;
  /** Maximum age (ms) of a reused connection. Default 60,000. */
  maxConnectionAgeMs?: number;
  /** Time (ms) for which an unused connection is kept if the server states none. Default 4,000. */
  idleConnectionMs?: number;
  /** Maximum number of unused connections over all hosts. Default 256. */
  maxIdleConnections?: number;
}

/** Sends all outbound HTTP requests of Heron. Create one per process. */
export interface Egress {
  /**
   * Sends one request and reads its response.
   * @throws EgressError if there is no response
   * @throws TypeError when a passed header is one that the egress sets itself
   */
  request(request: EgressRequest): Promise<EgressResponse>;
  /**
   * Checks a URL and every current address of its host, without connecting. A later request checks again.
   * @param timeoutMs timeout (ms) of the name resolution
   * @throws EgressError `blocked`, `dns` or `timeout`
   */
  check(url: string | URL, timeoutMs: number): Promise<void>;
  /** Closes pooled connections. Connections in use close when their request ends. */
  close(): Promise<void>;
}

const OWN_HEADERS = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  'upgrade',
  'expect',
  'te',
  'trailer',
]);

/**
 * Creates the egress. For every new connection it checks the URL, resolves the name, refuses a name with any non-public
 * address, connects to a checked address and verifies TLS. It follows no redirect, and bounds the time, the headers and
 * the body. Connections are pooled. Proxy environment variables have no effect.
 */
export function createEgress(options: EgressOptions): Egress {
  const dialOptions: DialOptions = {
    allowUnsafe: options.allowUnsafe,
    lookup: options.lookup ?? (options.allowUnsafe ? lookupBySystem : createDnsLookup()),
    secureContext: createSecureContext({
      minVersion: 'TLSv1.2',
      ...(options.extraCa ? { ca: [...rootCertificates, ...options.extraCa] } : {}),
    }),
  };
  const pool = new ConnectionPool({
    maxAgeMs: options.maxConnectionAgeMs ?? 60_000,
    idleMs: options.idleConnectionMs ?? 4_000,
    maxIdle: options.maxIdleConnections ?? 256,
  });

  return {
    async request(request) {
      for (const name of Object.keys(request.headers ?? {})) {
        if (OWN_HEADERS.has(name.toLowerCase())) throw new TypeError(`The header ${name} can't be set.`);
      }
      const progress: Progress = { phase: 'check', reused: false, startedAt: performance.now() };
      const deadline = startDeadline(request, progress);
      let measured: Pick<EgressMeasurement, 'outcome' | 'status'> = { outcome: 'protocol' };
      try {
        const response = await attempt(pool, dialOptions, request, progress, deadline.signal);
        measured = { outcome: 'response', status: response.status };
        return response;
      } catch (error) {
        const failure = error instanceof EgressError ? error : exchangeError(error);
        measured = { outcome: failure.kind };
        throw failure;
      } finally {
        deadline.clear();
        const totalMs = performance.now() - progress.startedAt;
        options.onSettled?.({ ...measured, reused: progress.reused, totalMs });
      }
    },
    async check(target, timeoutMs) {
      const check = checkOutboundUrl(target, { allowUnsafe: options.allowUnsafe });
      if (!check.ok) throw new EgressError('blocked', 'check', message('egress.blocked', { problem: check.problem }));
      const deadline = startDeadline({ timeoutMs }, { phase: 'dns' });
      try {
        await untilAborted(
          resolveChecked(bareHostname(check.url), dialOptions.lookup, { allowPrivate: options.allowUnsafe }),
          deadline.signal,
        );
      } finally {
        deadline.clear();
      }
    },
    close: () => pool.close(),
  };
}

/**
 * Sends the request over a pooled connection, or a new one if there is none. Tries another connection if the server
 * closed the pooled one before it read the request.
 */
async function attempt(
  pool: ConnectionPool,
  dialOptions: DialOptions,
  request: EgressRequest,
  progress: Progress,
  signal: AbortSignal,
): Promise<EgressResponse> {
  const check = checkOutboundUrl(request.url, { allowUnsafe: dialOptions.allowUnsafe });
  if (!check.ok) throw new EgressError('blocked', 'check', message('egress.blocked', { problem: check.problem }));
  const { url } = check;
  for (;;) {
    signal.throwIfAborted();
    const kept = pool.take(url.origin);
    let connection = kept;
    let timings: DialTimings = { dnsMs: 0, connectMs: 0 };
    if (!connection) {
      const dialed = await dial(url, dialOptions, signal, (phase) => (progress.phase = phase));
      connection = pool.open(url.origin, dialed);
      timings = dialed.timings;
    }
    progress.phase = 'exchange';
    progress.reused = kept !== undefined;
    const received: Received = { body: [] };
    const response = ({ status, headers }: Head, truncated: boolean): EgressResponse => ({
      status,
      headers,
      body: Buffer.concat(received.body),
      truncated,
      timings: { ...timings, totalMs: performance.now() - progress.startedAt },
      address: connection.address,
      reused: progress.reused,
    });
    try {
      const { head, truncated } = await untilAborted(exchange(connection, url, request, received), signal);
      pool.give(connection);
      return response(head, truncated);
    } catch (error) {
      pool.discard(connection);
      if (request.acceptPartialBody && received.head) return response(received.head, true);
      if (!(kept && error instanceof StaleConnectionError)) throw error;
    }
  }
}

interface Progress {
  phase: EgressPhase;
  reused: boolean;
  startedAt: number;
}

function startDeadline(
  request: Pick<EgressRequest, 'timeoutMs' | 'signal'>,
  progress: Pick<Progress, 'phase'>,
): { signal: AbortSignal; clear: () => void } {
  const controller = new AbortController();
  const onTimeout = () => {
    controller.abort(new EgressError('timeout', progress.phase, message('egress.timeout')));
  };
  const onAbort = () => {
    controller.abort(new EgressError('aborted', progress.phase, message('egress.aborted')));
  };
  const timer = setTimeout(onTimeout, request.timeoutMs);
  request.signal?.addEventListener('abort', onAbort, { once: true });
  if (request.signal?.aborted) onAbort();
  return {
    signal: controller.signal,
    clear: () => {
      clearTimeout(timer);
      request.signal?.removeEventListener('abort', onAbort);
    },
  };
}

type Head = Pick<EgressResponse, 'status' | 'headers'>;

/** Parts of a response that have arrived so far. */
interface Received {
  head?: Head;
  body: Buffer[];
}

async function exchange(
  connection: Connection,
  url: URL,
  request: EgressRequest,
  received: Received,
): Promise<{ head: Head; truncated: boolean }> {
  connection.awaitHead();
  const response = await connection.client.request({
    method: request.method,
    path: url.pathname + url.search,
    headers: { ...request.headers },
    body: request.body ?? null,
  });
  const head = (received.head = { status: response.statusCode, headers: response.headers });
  let room = request.maxResponseBytes;
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    received.body.push(chunk.subarray(0, room));
    // Leaving the loop early ends the stream and its connection.
    if (chunk.length > room) return { head, truncated: true };
    room -= chunk.length;
  }
  return { head, truncated: false };
}

function exchangeError(error: unknown): EgressError {
  const code = errorCode(error);
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new EgressError('too_large', 'exchange', message('egress.headers'), code);
  }
  if (code?.startsWith('HPE_')) {
    return new EgressError('protocol', 'exchange', message('egress.answer_not_http'), code);
  }
  if (code === 'UND_ERR_INVALID_ARG') {
    return new EgressError('protocol', 'exchange', message('egress.request_not_http'), code);
  }
  return new EgressError('protocol', 'exchange', message('egress.closed'), code);
}
