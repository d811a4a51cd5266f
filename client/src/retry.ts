export interface RetryOptions {
  /** How often a request is sent again; 3 unless given, 0 for never. */
  retries?: number;
  /** First pause (ms) where the server names none; it doubles, and a random half of it is left out. */
  pauseMs?: number;
  /** Longest pause (ms), also of those the server asks for: a request that would wait longer is answered as it is. */
  maxPauseMs?: number;
}

/** A busy server, or a proxy that did not reach it. */
const PASSING = new Set([429, 502, 503, 504]);

/**
 * Sends a request again when no answer came, or one that will pass: after the time that Retry-After says, else after a growing pause. Only
 * requests that may be repeated are: reads, and those with an Idempotency-Key.
 */
export function retrying(
  send: (request: Request) => Promise<Response>,
  { retries = 3, pauseMs = 500, maxPauseMs = 30_000 }: RetryOptions,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const isRepeatable = request.method === 'GET' || request.headers.has('idempotency-key');
    for (let sent = 0; ; sent += 1) {
      const isLast = !isRepeatable || sent === retries;
      const growing = Math.min(pauseMs * 2 ** sent, maxPauseMs) * (0.5 + Math.random() / 2);
      try {
        // A request is used up by being sent.
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

/** The pause (ms) that Retry-After asks for, in seconds or as a date. */
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
