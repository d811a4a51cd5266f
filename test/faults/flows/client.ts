import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../../lib/ids.ts';

/** Request with its answer. The client repeats a request with one Idempotency-Key until it is answered. */
export interface Said {
  method: string;
  path: string;
  body: unknown;
  status: number;
  answer: any;
  /** Number of requests sent, answered or not. */
  tries: number;
  /** Time (epoch ms) of the answer. */
  answeredAt: number;
}

/** Client that retries while the installation is unreachable. */
export interface Client {
  ask(method: string, path: string, token: string, body?: unknown): Promise<Said>;
  /** Every answered request, in order. */
  said: Said[];
}

const PATIENCE_MS = 300_000;
const PAUSE_MS = 200;

/** Creates a client of the API at an address. Requests without an answer, or to a failing server, are repeated. */
export function createClient(url: string): Client {
  const said: Said[] = [];
  const ask = async (method: string, path: string, token: string, body?: unknown): Promise<Said> => {
    const deadline = Date.now() + PATIENCE_MS;
    const key = newId();
    for (let tries = 1; ; tries += 1) {
      const got = await once(`${url}/v1${path}`, method, token, key, body);
      if (got && !isPassing(got)) {
        const done = { method, path, body, ...got, tries, answeredAt: Date.now() };
        said.push(done);
        return done;
      }
      if (Date.now() > deadline) throw new Error(`no answer to ${method} ${path}: ${JSON.stringify(got?.answer)}`);
      await sleep(PAUSE_MS);
    }
  };
  return { ask, said };
}

async function once(
  url: string,
  method: string,
  token: string,
  key: string,
  body: unknown,
): Promise<{ status: number; answer: any } | undefined> {
  try {
    const response = await fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(method === 'GET' ? {} : { 'idempotency-key': key }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000),
    });
    const text = await response.text();
    return { status: response.status, answer: text ? JSON.parse(text) : undefined };
  } catch {
    return undefined;
  }
}

/**
 * Returns true if the request should be repeated: the server fails or limits, or is still processing the same request.
 */
function isPassing({ status, answer }: { status: number; answer: any }): boolean {
  return status >= 500 || status === 429 || (status === 409 && /Idempotency-Key/.test(answer?.message ?? ''));
}
