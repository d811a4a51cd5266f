import { createSecureContext, rootCertificates } from 'node:tls';
import { dial, untilAborted, type DialOptions, type DialTimings } from './dial.ts';
import { EgressError, errorCode, type EgressErrorKind, type EgressPhase } from './errors.ts';
import { ConnectionPool, StaleConnectionError, type Connection } from './pool.ts';
import { createDnsLookup, lookupBySystem, resolveChecked, type Lookup } from './resolve.ts';
import { bareHostname, checkOutboundUrl } from './url.ts';
import { message } from '../../messages/index.ts';

/** One outbound request. */
export interface EgressRequest {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: string | URL;
  /** Without Host, Connection, Content-Length and the like, which the egress sets. */
  headers?: Readonly<Record<string, string>>;
  body?: Buffer | string;
  /** For everything together: DNS, connecting, TLS, headers and body. */
  timeoutMs: number;
  /** Response body bytes to read; the rest is not received. */
  maxResponseBytes: number;
  signal?: AbortSignal;
}

/** The answer of the other side, with any status: a redirect is not followed. */
export interface EgressResponse {
  status: number;
  /** Names in lower case; a header sent more than once is an array. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** As sent: no content encoding is undone. */
  body: Buffer;
  /** Whether the body was longer than `maxResponseBytes` and was cut there. */
  truncated: boolean;
  timings: EgressTimings;
  /** The address that was connected to. For operators; never show it to a tenant. */
  address: string;
  /** Whether a kept connection was used, so that no dialing took place and its timings are 0. */
  reused: boolean;
}

/** Milliseconds. `tlsMs` is absent where there was no handshake. */
interface EgressTimings extends DialTimings {
  totalMs: number;
}

/** What `onSettled` gets: enough for counters and histograms, with no host and no address in it. */
export interface EgressMeasurement {
  outcome: 'response' | EgressErrorKind;
  status?: number;
  reused: boolean;
  totalMs: number;
}

export interface EgressOptions {
  /** ALLOW_UNSAFE_WEBHOOK_URLS: any scheme, host, port and address. For development only. */
  allowUnsafe: boolean;
  /** Default: DNS itself, or the system's lookup with `allowUnsafe`. */
  lookup?: Lookup;
  /** PEM certificates trusted besides the built-in authorities, for receivers with a private one. */
  extraCa?: readonly string[];
  onSettled?: (measurement: EgressMeasurement) => void;
  /** How long one connection may be used, ms. Default 60,000. */
  maxConnectionAgeMs?: number;
  /** How long an unused connection is kept when the server does not say, ms. Default 4,000. */
  idleConnectionMs?: number;
  /** Unused connections kept over all hosts. Default 256. */
  maxIdleConnections?: number;
}

/** The only way out of Heron to the network over HTTP. One per process. */
export interface Egress {
  /**
   * Sends one request and reads its answer.
   *
   * @throws EgressError for everything that is not an answer
   * @throws TypeError when a header is passed that is the egress's own
   */
  request(request: EgressRequest): Promise<EgressResponse>;
  /**
   * Checks a URL and every address its host has now, without connecting; a later request checks again.
   * @param timeoutMs for the resolving, ms
   * @throws EgressError `blocked`, `dns` or `timeout`
   */
  check(url: string | URL, timeoutMs: number): Promise<void>;
  /** Closes the kept connections; those in use close when their request ends. */
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
 * Makes the egress: checks the URL, resolves the name, refuses it when any address is not public, connects to the
 * address that was checked, verifies TLS, follows no redirect, and bounds the time, the headers and the body.
 * Connections are kept for a while; every new one is checked again. Proxy environment variables have no effect.
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
 * Sends the request over a kept connection, else over a new one. A kept connection that the host had closed before it
 * read the request is replaced by another.
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
    try {
      const answer = await untilAborted(exchange(connection, url, request), signal);
      pool.give(connection);
      const totalMs = performance.now() - progress.startedAt;
      return { ...answer, timings: { ...timings, totalMs }, address: connection.address, reused: progress.reused };
    } catch (error) {
      pool.discard(connection);
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

type Answer = Pick<EgressResponse, 'status' | 'headers' | 'body' | 'truncated'>;

async function exchange(connection: Connection, url: URL, request: EgressRequest): Promise<Answer> {
  const response = await connection.client.request({
    method: request.method,
    path: url.pathname + url.search,
    headers: { ...request.headers },
    body: request.body ?? null,
  });
  const chunks: Buffer[] = [];
  let room = request.maxResponseBytes;
  let truncated = false;
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, room));
    truncated = chunk.length > room;
    // Leaving the loop early ends the stream, and with it the connection.
    if (truncated) break;
    room -= chunk.length;
  }
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks), truncated };
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
