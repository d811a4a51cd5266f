export interface RetryOptions {
  /** Maximum number of retries. Defaults to 3; 0 disables retries. */
  retries?: number;
  /** First pause (ms) if the server requests none. The pause doubles each time, minus a random part of up to half. */
  pauseMs?: number;
  /**
   * Maximum pause (ms), also for pauses requested by the server. If a retry would have to wait longer, the error answer
   * is returned. Defaults to a minute, the longest wait of the rate limits.
   */
  maxPauseMs?: number;
}

const MAX_PAUSE_MS = 60_000;

/** Statuses of a busy server, or of a proxy that could not reach the server. */
const PASSING = new Set([429, 502, 503, 504]);

/**
 * Retries a request that got no answer or a temporary error. It waits for the time in Retry-After or, without it, for a
 * growing pause. Only repeatable requests are retried: reads, and writes with an Idempotency-Key.
 */
export function retrying(
  send: (request: Request) => Promise<Response>,
  { retries = 3, pauseMs = 500, maxPauseMs = MAX_PAUSE_MS }: RetryOptions,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const isRepeatable = request.method === 'GET' || request.headers.has('idempotency-key');
    for (let sent = 0; ; sent += 1) {
      const isLast = !isRepeatable || sent === retries;
      const growing = Math.min(pauseMs * 2 ** sent, maxPauseMs) * (0.5 + Math.random() / 2);
      try {
        // A Request object can be sent only once, so a copy is sent as long as retries remain.
        const response = await send(isLast ? request : request.clone());
        const wait = askedPauseMs(response) ?? growing;
        if (isLast || !PASSING.has(response.status) || wait > maxPauseMs) return response;
        await response.body?.cancel();
        await pause(wait, request.signal);
      } catch (error) {
        if (isLast || request.signal.aborted) throw error;
        await pause(growing, request.signal);
      }
    }
  };
}

/**
 * Delays a request while the RateLimit header of the last answer shows that the key has no request left. Otherwise the
 * server would refuse the request. If the wait would be longer than `maxPauseMs`, the request is sent at once.
 */
export function paced(
  send: (request: Request) => Promise<Response>,
  { maxPauseMs = MAX_PAUSE_MS }: RetryOptions,
): (request: Request) => Promise<Response> {
  let freeAt = 0;
  return async (request) => {
    const wait = freeAt - Date.now();
    if (wait > 0 && wait <= maxPauseMs) await pause(wait, request.signal);
    const response = await send(request);
    const left = /"requests";r=(\d+);t=(\d+)/.exec(response.headers.get('ratelimit') ?? '');
    if (left) freeAt = left[1] === '0' ? Date.now() + Number(left[2]) * 1000 : 0;
    return response;
  };
}

/** Returns the pause (ms) that the Retry-After header requests. The header contains seconds or a date. */
function askedPauseMs(response: Response): number | undefined {
  const asked = response.headers.get('retry-after');
  if (asked === null) return undefined;
  const seconds = Number(asked);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(asked) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
