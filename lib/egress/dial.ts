import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import { EgressError, errorCode } from './errors.ts';
import { resolveChecked, type Lookup } from './resolve.ts';
import { bareHostname } from './url.ts';
import { message } from '../../messages/index.ts';

/** Durations (ms) of the phases before the first byte of the request. `tlsMs` is absent for plain http. */
export interface DialTimings {
  dnsMs: number;
  connectMs: number;
  tlsMs?: number;
}

/** Socket that is connected to a checked address. For https, its TLS handshake is complete. */
export interface Dialed {
  socket: Socket;
  address: string;
  timings: DialTimings;
}

export interface DialOptions {
  allowUnsafe: boolean;
  lookup: Lookup;
  secureContext: SecureContext;
}

// Time (ms) after which the next address is tried in parallel (RFC 8305). Node's 250 ms is too short for a receiver on
// another continent.
const NEXT_ADDRESS_AFTER_MS = 500;

/**
 * Opens a connection to the host of `url`. Resolves the name, checks every address, and connects to these checked
 * addresses, alternating between IPv4 and IPv6. After that it negotiates TLS 1.2 or later, with the certificate
 * verified against the host name. Verification cannot be disabled, not even by NODE_TLS_REJECT_UNAUTHORIZED. When
 * `signal` fires, destroys the socket and throws the reason of the signal. `onPhase` is called at the start of each
 * phase, so that the caller knows in which phase a timeout happened.
 * @throws EgressError `dns`, `blocked`, `connect` or `tls`; or the reason of `signal`
 */
export async function dial(
  url: URL,
  options: DialOptions,
  signal: AbortSignal,
  onPhase: (phase: 'dns' | 'connect' | 'tls') => void,
): Promise<Dialed> {
  const hostname = bareHostname(url);
  const startedAt = performance.now();
  onPhase('dns');
  const resolving = resolveChecked(hostname, options.lookup, { allowPrivate: options.allowUnsafe });
  const addresses = await untilAborted(resolving, signal);
  const resolvedAt = performance.now();

  onPhase('connect');
  const lookupChecked: LookupFunction = (_hostname, _options, callback) => callback(null, addresses);
  const tcp = connectTcp({
    host: hostname,
    port: Number(url.port || (url.protocol === 'https:' ? 443 : 80)),
    lookup: lookupChecked,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    noDelay: true,
  });
  await established(tcp, 'connect', signal, connectError);
  const connectedAt = performance.now();
  const address = tcp.remoteAddress ?? '';
  const timings = { dnsMs: resolvedAt - startedAt, connectMs: connectedAt - resolvedAt };
  if (url.protocol === 'http:') return { socket: tcp, address, timings };

  onPhase('tls');
  const tls = connectTls({
    socket: tcp,
    // Name expected in the certificate. SNI must not contain an IP literal; for an IP literal, only `host` is verified.
    host: hostname,
    servername: isIP(hostname) === 0 ? hostname : '',
    secureContext: options.secureContext,
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
  });
  await established(tls, 'secureConnect', signal, tlsError);
  return { socket: tls, address, timings: { ...timings, tlsMs: performance.now() - connectedAt } };
}

/** Settles like `promise`, or rejects with the reason of `signal` when it is aborted. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function established(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
  describe: (code: string | undefined) => EgressError,
): Promise<void> {
  const ready = new Promise<void>((resolve, reject) => {
    socket.once(event, resolve);
    // This listener is never removed, because a connection reset must not become an uncaught exception before the
    // caller has its own listener.
    socket.on('error', (error) => reject(describe(errorCode(error))));
    socket.once('close', () => reject(describe('ECONNRESET')));
  });
  try {
    await untilAborted(ready, signal);
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function connectError(code: string | undefined): EgressError {
  const said = code === 'ECONNREFUSED' ? message('egress.refused') : message('egress.connect');
  return new EgressError('connect', 'connect', said, code);
}

function tlsError(code: string | undefined): EgressError {
  return new EgressError('tls', 'tls', tlsProblems.get(code ?? '') ?? message('egress.tls'), code);
}

const tlsProblems = new Map([
  ['CERT_HAS_EXPIRED', message('egress.tls_expired')],
  ['CERT_NOT_YET_VALID', message('egress.tls_not_yet')],
  ['ERR_TLS_CERT_ALTNAME_INVALID', message('egress.tls_host')],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', message('egress.tls_self_signed')],
  ['SELF_SIGNED_CERT_IN_CHAIN', message('egress.tls_untrusted')],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', message('egress.tls_untrusted')],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', message('egress.tls_incomplete')],
]);
