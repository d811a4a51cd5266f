import type { Message } from '../../messages/index.ts';
import { render } from '../../messages/render.ts';

/**
 * Reason for a request without a response:
 * - `blocked`: the URL or one of its addresses is forbidden;
 * - `dns`, `connect`, `tls`: the name, the TCP connection or the TLS handshake failed;
 * - `timeout`: the total time ran out, in any phase;
 * - `too_large`: the response headers exceed the limit;
 * - `protocol`: the answer is not HTTP, or the connection closed before the answer was complete;
 * - `aborted`: the caller's signal fired.
 */
export type EgressErrorKind = 'blocked' | 'dns' | 'connect' | 'tls' | 'timeout' | 'too_large' | 'protocol' | 'aborted';

/** Phase that an attempt reached. Each phase starts only if the previous one succeeded. */
export type EgressPhase = 'check' | 'dns' | 'connect' | 'tls' | 'exchange';

/**
 * A failed outbound attempt. The tenant may see `said`; `message` is the same text in English. Neither contains a
 * resolved address or data from the other side. `code` is the error code of Node (`ECONNREFUSED`, `CERT_HAS_EXPIRED`),
 * if any. There is no `cause`, because the text of Node's network errors contains addresses.
 */
export class EgressError extends Error {
  override readonly name = 'EgressError';
  readonly kind: EgressErrorKind;
  readonly phase: EgressPhase;
  readonly code: string | undefined;
  readonly said: Message;

  constructor(kind: EgressErrorKind, phase: EgressPhase, said: Message, code?: string) {
    super(render(said));
    this.said = said;
    this.kind = kind;
    this.phase = phase;
    this.code = code;
  }
}

/** Returns the `code` of a Node or undici error, if it is a string. */
export function errorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}
