import type { Config } from './config/index.ts';
import { inSpan } from './trace.ts';

/**
 * Handles a request in its own trace span. Continues the caller's trace (`traceparent`) only if TRACE_TRUST_CALLERS is
 * set. Otherwise anybody could force recording, or add spans to other traces. The span name omits paths, because some
 * contain addresses and tokens.
 */
export function withRequestSpan<T>(
  { TRACE_TRUST_CALLERS: isTrusted }: Pick<Config, 'TRACE_TRUST_CALLERS'>,
  { method, traceparent }: { method: string | undefined; traceparent: string | undefined },
  answer: () => Promise<T>,
): Promise<T> {
  const caller = traceparent || undefined;
  return inSpan(
    `request ${method ?? ''}`,
    { kind: 'server', ...(isTrusted ? { parent: caller } : { stranger: caller }) },
    answer,
  );
}
