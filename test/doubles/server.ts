/**
 * Base of all provider stubs: a real local HTTP server that records requests and refuses invalid ones in the provider's
 * own words. Tests can make it slow, down or busy. A stub follows the provider's public documentation and imports
 * nothing from Heron, so that it does not repeat a mistake of the client.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Answer to a request; thrown for a provider's refusal. */
export class Answer extends Error {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Record<string, string>;

  constructor(status: number, body?: unknown, headers: Record<string, string> = {}) {
    super(`${status} ${typeof body === 'string' ? body : JSON.stringify(body)}`);
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** Request as seen by a stub's route. */
export interface Heard {
  method: string;
  /** Path without the query. */
  path: string;
  query: URLSearchParams;
  /** Parameters of the route's path. */
  params: Record<string, string>;
  headers: IncomingHttpHeaders;
  raw: string;
}

export type Route = (heard: Heard) => unknown;

/**
 * Fault of the next requests, which replaces their work or follows it. `lost`: the work is done, but its answer never
 * arrives.
 */
export type Fault = { kind: 'limited'; retryAfterSeconds: number } | { kind: 'broken' | 'hang' | 'reset' | 'lost' };

/** Declaration of a provider's stub. */
interface DoubleDeclaration {
  /** Routes by `METHOD /path/:part`, without the query. */
  routes: Record<string, Route>;
  /** Returns the provider's answer to too many requests. */
  limited: (retryAfterSeconds: number) => Answer;
  /** Returns the provider's answer when it is down. */
  broken?: () => Answer;
  /** Returns the provider's answer to an unknown path. */
  unknown?: (heard: Heard) => Answer;
  /** Called before each route except open ones; throws the provider's refusal of invalid credentials. */
  admit?: (heard: Heard) => void;
  /** Keys of routes that need no credentials. */
  open?: readonly string[];
  /** Rate limit of routes that need credentials. */
  rate?: { requests: number; perMs: number };
}

/** Running stub. */
export interface Double {
  /** Origin of the stub, without a trailing slash. */
  readonly url: string;
  /** Every request in order, regardless of the answer. */
  readonly heard: readonly Heard[];
  /** Error answers with status 400 to 499 in the provider's words, except for rate limits. */
  readonly refusals: readonly string[];
  /** Applies these faults to the next matching requests, one each. `match` is part of `METHOD /path`. */
  fail(...faults: readonly (Fault & { match?: string })[]): void;
  /** Fails every matching request until it is called with undefined. */
  failAll(fault: Fault | undefined): void;
  /** Sets the provider's rate limit from now on; undefined removes it. */
  limit(rate: { requests: number; perMs: number } | undefined): void;
  /** Returns the requests as `METHOD /path`, in order. */
  calls(): string[];
  clear(): void;
  close(): Promise<void>;
}

/** Starts a stub on `port`, or on a free local port. */
export async function startDouble(declaration: DoubleDeclaration, port = 0): Promise<Double> {
  const routes = Object.entries(declaration.routes).map(([key, route]) => ({ key, match: matcher(key), route }));
  let heard: Heard[] = [];
  let refusals: string[] = [];
  let faults: (Fault & { match?: string })[] = [];
  let always: Fault | undefined;
  let { rate } = declaration;
  let times: number[] = [];

  const takeFault = (call: string): Fault | undefined => {
    const index = faults.findIndex(({ match }) => match === undefined || call.includes(match));
    return index < 0 ? always : faults.splice(index, 1)[0];
  };

  const overLimit = (): number | undefined => {
    if (!rate) return undefined;
    const { perMs, requests } = rate;
    const now = Date.now();
    times = times.filter((time) => time > now - perMs);
    if (times.length >= requests) return Math.max(1, Math.ceil((times[0]! + perMs - now) / 1_000));
    times.push(now);
    return undefined;
  };

  const answer = async (request: Heard): Promise<Answer> => {
    try {
      const found = routes
        .map((route) => ({ ...route, params: route.match(request) }))
        .find(({ params }) => params !== undefined);
      if (!found?.params) throw declaration.unknown?.(request) ?? new Answer(404, 'Not Found');
      request.params = found.params;
      if (!declaration.open?.includes(found.key)) {
        declaration.admit?.(request);
        const waitSeconds = overLimit();
        if (waitSeconds !== undefined) throw declaration.limited(waitSeconds);
      }
      const given = await found.route(request);
      return given instanceof Answer ? given : new Answer(200, given);
    } catch (error) {
      if (error instanceof Answer) return error;
      throw error;
    }
  };

  const serve = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await read(message);
    heard.push(request);
    const call = `${request.method} ${request.path}`;
    const fault = takeFault(call);
    if (fault?.kind === 'hang') return;
    if (fault?.kind === 'reset') {
      message.socket.destroy();
      return;
    }
    let given: Answer;
    if (fault?.kind === 'limited') given = declaration.limited(fault.retryAfterSeconds);
    else if (fault?.kind === 'broken') given = declaration.broken?.() ?? new Answer(503, 'Service Unavailable');
    else given = await answer(request);
    const isLimit = given.status === 429 || fault?.kind === 'limited';
    if (given.status >= 400 && given.status < 500 && !isLimit) refusals.push(`${call}: ${given.message}`);
    if (fault?.kind === 'lost') message.socket.destroy();
    else send(response, given);
  };

  const server = createServer((message, response) => {
    serve(message, response).catch((error: unknown) => {
      response.writeHead(500).end(`The double failed: ${String(error)}`);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  // A stub that is still running does not keep its process alive.
  server.unref();

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get heard() {
      return heard;
    },
    get refusals() {
      return refusals;
    },
    fail: (...more) => void faults.push(...more),
    failAll: (fault) => void (always = fault),
    limit: (next) => {
      rate = next;
      times = [];
    },
    calls: () => heard.map(({ method, path }) => `${method} ${path}`),
    clear: () => {
      [heard, refusals, faults] = [[], [], []];
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Parses the body as JSON; throws `refusal` if it is not JSON or has another content type. */
export function jsonOf(heard: Heard, refusal: (problem: string) => Answer): any {
  if (!/^application\/json\b/i.test(heard.headers['content-type'] ?? ''))
    throw refusal('The content type is not application/json');
  try {
    return JSON.parse(heard.raw);
  } catch {
    throw refusal('The body is not JSON');
  }
}

/** Parses the body as a form; throws `refusal` for another content type. */
export function formOf(heard: Heard, refusal: (problem: string) => Answer): URLSearchParams {
  if (!/^application\/x-www-form-urlencoded\b/i.test(heard.headers['content-type'] ?? ''))
    throw refusal('The content type is not application/x-www-form-urlencoded');
  return new URLSearchParams(heard.raw);
}

function matcher(key: string): (heard: Heard) => Record<string, string> | undefined {
  const [method, path] = key.split(' ') as [string, string];
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  const pattern = new RegExp(`^${path.replaceAll(/:\w+/g, '([^/]+)')}$`);
  return (heard) => {
    const found = heard.method === method ? pattern.exec(heard.path) : null;
    return found
      ? Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(found[index + 1]!)]))
      : undefined;
  };
}

async function read(message: IncomingMessage): Promise<Heard> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const url = new URL(message.url ?? '/', 'http://double');
  return {
    method: message.method ?? 'GET',
    path: url.pathname,
    query: url.searchParams,
    params: {},
    headers: message.headers,
    raw: Buffer.concat(chunks).toString('utf8'),
  };
}

function send(response: ServerResponse, { status, body, headers }: Answer): void {
  if (body === undefined || status === 204) {
    response.writeHead(status, headers).end();
    return;
  }
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8';
  response.writeHead(status, { 'content-type': type, ...headers }).end(text);
}
