import type { Message } from '../../messages/index.ts';
import { render } from '../../messages/render.ts';

/**
 * Why a request did not give a response:
 * - `blocked`: the URL or an address behind it is not one we may talk to;
 * - `dns`, `connect`, `tls`: the name, the TCP connection or the TLS handshake failed;
 * - `timeout`: the total time ran out, in any phase;
 * - `too_large`: the response headers are larger than we read;
 * - `protocol`: the answer is not HTTP, or the connection closed before the answer was complete;
 * - `aborted`: the caller's signal fired.
 */
export type EgressErrorKind = 'blocked' | 'dns' | 'connect' | 'tls' | 'timeout' | 'too_large' | 'protocol' | 'aborted';

/** How far an attempt came. Each phase starts only when the one before it succeeded. */
export type EgressPhase = 'check' | 'dns' | 'connect' | 'tls' | 'exchange';

/**
 * A failed outbound attempt. `said` may be shown to the tenant, and `message` is the same in English: it names no resolved
 * address and quotes nothing the other side sent. `code` is the system's own error code (`ECONNREFUSED`, `CERT_HAS_EXPIRED`)
 * where there is one. There is no `cause` on purpose: Node's network errors carry addresses in their text.
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

/** The `code` of a Node or undici error, if it has one that is a string. */
export function errorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}
