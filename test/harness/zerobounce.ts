import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Stub of ZeroBounce, written from its documentation of GET /v2/validate; it refuses the same requests. */
export interface ZeroBounceDouble {
  /** Value for the setting ZEROBOUNCE_URL. */
  url: string;
  key: string;
  /** Addresses that were queried, in order. */
  asked: string[];
  /** Remaining credits; a result costs one, unless it is `unknown`. */
  credits: number;
  /** Number of next requests that are answered with this status, without a result. */
  failing: { status: number; times: number };
  /** Results by address. Default: `valid`. */
  results: Map<string, { status: string; sub_status: string }>;
  close(): Promise<void>;
}

/** Starts the stub. */
export async function startZeroBounce(): Promise<ZeroBounceDouble> {
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://double');
    const answer = (status: number, body: object | string) => {
      response.writeHead(status, { 'content-type': typeof body === 'string' ? 'text/html' : 'application/json' });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    };
    if (double.failing.times > 0) {
      double.failing.times -= 1;
      return answer(double.failing.status, '<h1>Blocked</h1>');
    }
    if (url.pathname !== '/v2/validate') return answer(404, '<h1>Not found</h1>');
    if (request.method !== 'GET') return answer(405, '<h1>Method</h1>');
    const email = url.searchParams.get('email');
    if (!email || !url.searchParams.has('ip_address') || !url.searchParams.has('api_key'))
      return answer(400, { error: 'Missing parameter' });
    if (url.searchParams.get('api_key') !== double.key || double.credits <= 0)
      return answer(200, { error: 'Invalid API key or your account ran out of credits' });
    double.asked.push(email);
    const result = double.results.get(email) ?? { status: 'valid', sub_status: '' };
    if (result.status !== 'unknown') double.credits -= 1;
    answer(200, {
      address: email,
      ...result,
      free_email: false,
      did_you_mean: null,
      account: email.split('@')[0],
      domain: email.split('@')[1],
      mx_found: 'true',
      processed_at: '2024-01-01 00:00:00.000',
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const double: ZeroBounceDouble = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    key: 'zb-key',
    asked: [],
    credits: 1_000,
    failing: { status: 429, times: 0 },
    results: new Map(),
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
  return double;
}
