import type { Config } from './config/index.ts';
import { inSpan } from './trace.ts';

/**
 * Answers a request in a span of its own. The span of the caller (`traceparent`) is gone on with only where TRACE_TRUST_CALLERS says so; otherwise
 * anybody could have everything recorded, or join the traces of others. Paths are not in the name: some hold addresses and tokens.
 */
export function inRequest<T>(
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
