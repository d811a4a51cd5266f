import { ImapFlow } from 'imapflow';
import { EgressError, resolveMailHost } from '../egress/index.ts';
import { withoutSecrets } from '../without-secrets.ts';

/** The server and the account of an IMAP connection. */
export interface ImapTarget {
  host: string;
  port: number;
  security: 'tls' | 'starttls' | 'none';
  username: string;
  /** Empty where an access token takes its place. */
  password: string;
  /** Signs in by XOAUTH2 (or OAUTHBEARER, where the server has that) with this instead of the password. */
  accessToken?: string;
}

export interface ImapOptions {
  /** Whether servers on private addresses may be used (ALLOW_PRIVATE_MAIL_HOSTS). */
  allowPrivate: boolean;
  /** For the TCP connection, the TLS handshake and the greeting, each (ms). */
  connectTimeoutMs?: number;
  /** For everything up to the end of the sign-in (ms); three times `connectTimeoutMs` when not given. */
  openTimeoutMs?: number;
  /** Gives up connecting when it fires. */
  signal?: AbortSignal;
  /** Silence (ms) after which a connection counts as dead; IDLE is renewed well before. */
  socketTimeoutMs?: number;
}

/**
 * Why a mailbox cannot be read: the server refused the sign-in (`auth`), could not be reached (`unreachable`), or
 * answered in a way we cannot go on with (`protocol`).
 */
type ImapErrorKind = 'auth' | 'unreachable' | 'protocol';

/** How far a connection came. */
type ImapStage = 'dns' | 'connect' | 'tls' | 'greeting' | 'auth' | 'session';

/** A failed IMAP conversation. `message` may be shown to the tenant; it names no resolved address. */
export class ImapError extends Error {
  override readonly name = 'ImapError';
  readonly kind: ImapErrorKind;
  readonly stage: ImapStage;
  /** A refused sign-in for which the server gave no response code (RFC 5530): wrong credentials, or a fault that passes. */
  readonly doubtful: boolean;

  constructor(kind: ImapErrorKind, stage: ImapStage, message: string, doubtful = false) {
    super(message);
    this.kind = kind;
    this.stage = stage;
    this.doubtful = doubtful;
  }
}

/** No message is read beyond this many bytes. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const MAX_RESPONSE_BYTES = 2 * MAX_MESSAGE_BYTES;
const MAX_LINE_BYTES = 4 * 1024 * 1024;

/**
 * Connects to an address that was checked, negotiates TLS as asked, and signs in. The caller closes the client.
 * @throws ImapError
 */
export async function openImap(target: ImapTarget, options: ImapOptions): Promise<ImapFlow> {
  const connectTimeout = options.connectTimeoutMs ?? 10_000;
  const openTimeout = options.openTimeoutMs ?? 3 * connectTimeout;
  let host;
  try {
    host = await resolveMailHost(target.host, target.port, { allowPrivate: options.allowPrivate });
  } catch (error) {
    if (error instanceof EgressError)
      throw new ImapError('unreachable', error.kind === 'dns' ? 'dns' : 'connect', error.message);
    throw error;
  }
  const client = new ImapFlow({
    host: host.address,
    port: target.port,
    ...(host.servername ? { servername: host.servername } : {}),
    secure: target.security === 'tls',
    ...(target.security === 'tls' ? {} : { doSTARTTLS: target.security === 'starttls' }),
    auth:
      target.accessToken === undefined
        ? { user: target.username, pass: target.password }
        : { user: target.username, accessToken: target.accessToken },
    // The library's own log contains protocol lines with addresses.
    logger: false,
    disableAutoIdle: true,
    connectionTimeout: connectTimeout,
    greetingTimeout: connectTimeout,
    socketTimeout: options.socketTimeoutMs ?? 30_000,
    maxLineLength: MAX_LINE_BYTES,
    maxLiteralSize: MAX_RESPONSE_BYTES,
    maxResponseSize: MAX_RESPONSE_BYTES + MAX_LINE_BYTES,
  });
  // A connection that breaks later rejects the running command; without a listener it would end the process as well.
  client.on('error', () => {});
  // The library waits for the answer to a sign-in for as long as for new mail.
  let late = false;
  const giveUp = () => {
    late = true;
    client.close();
  };
  const timer = setTimeout(giveUp, openTimeout);
  options.signal?.addEventListener('abort', giveUp);
  try {
    if (options.signal?.aborted)
      throw new ImapError('unreachable', 'connect', 'The connection was not wanted any more');
    await client.connect();
    return client;
  } catch (error) {
    client.close();
    if (late) throw new ImapError('unreachable', 'session', 'The server did not answer the sign-in in time');
    throw error instanceof ImapError ? error : openingError(error, target);
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', giveUp);
  }
}

/**
 * Runs commands of an open conversation, and ends the conversation when the server stays silent for `silenceMs` in the
 * middle of them: a server may take its time for a large message, but it must send something.
 * @throws ImapError unreachable when the server went silent, or what `work` throws
 */
export async function answered<T>(client: ImapFlow, silenceMs: number, work: () => Promise<T>): Promise<T> {
  let silent = false;
  let heard = client.stats().received;
  const timer = setInterval(() => {
    const { received } = client.stats();
    if (received === heard) {
      silent = true;
      client.close();
    }
    heard = received;
  }, silenceMs);
  try {
    const result = await work();
    if (silent) throw new ImapError('unreachable', 'session', 'The server stopped answering');
    return result;
  } catch (error) {
    if (silent) throw new ImapError('unreachable', 'session', 'The server stopped answering');
    throw error;
  } finally {
    clearInterval(timer);
  }
}

/** Whether an error means that the server could not be reached or did not answer; a refusal is an answer. */
export function isHanging(error: unknown): boolean {
  const { kind, stage } = imapError(error);
  return kind === 'unreachable' && stage !== 'auth';
}

/** An error of an open conversation, classified. */
export function imapError(error: unknown): ImapError {
  if (error instanceof ImapError) return error;
  const { responseText, authenticationFailed, code } = error as Fault;
  if (authenticationFailed) return new ImapError('auth', 'auth', clip(responseText ?? 'The sign-in was refused'));
  if (responseText) return new ImapError('protocol', 'session', clip(responseText));
  if (isNetworkCode(code)) return new ImapError('unreachable', 'session', 'The connection was lost');
  return new ImapError('protocol', 'session', 'The server answered in a way that could not be understood');
}

interface Fault {
  code?: string;
  authenticationFailed?: boolean;
  tlsFailed?: boolean;
  responseText?: string;
  serverResponseCode?: string;
  message?: string;
}

/** Answers to a sign-in that mean "not now" and say nothing about the password (RFC 5530). */
const PASSING = new Set(['UNAVAILABLE', 'INUSE', 'LIMIT', 'SERVERBUG', 'CONTACTADMIN', 'THROTTLED']);

function openingError(error: unknown, target: ImapTarget): ImapError {
  const fault = error as Fault;
  const said = clip(withoutSecrets(fault.responseText ?? '', target));
  if (fault.authenticationFailed) {
    if (PASSING.has(fault.serverResponseCode ?? ''))
      return new ImapError('unreachable', 'auth', said || 'The server takes no sign-in now');
    return new ImapError('auth', 'auth', said || 'The sign-in was refused', !fault.serverResponseCode);
  }
  const code = fault.code ?? '';
  if (fault.tlsFailed || /TLS|SSL|CERT|SELF_SIGNED|UNABLE_TO/.test(code) || /certificate/i.test(fault.message ?? '')) {
    return new ImapError('unreachable', 'tls', 'TLS could not be negotiated');
  }
  if (code === 'CONNECT_TIMEOUT') return new ImapError('unreachable', 'connect', 'The server did not answer in time');
  if (code === 'GREETING_TIMEOUT') return new ImapError('unreachable', 'greeting', 'The server did not greet in time');
  if (code === 'UPGRADE_TIMEOUT') return new ImapError('unreachable', 'tls', 'TLS could not be negotiated in time');
  if (said) return new ImapError('protocol', 'greeting', said);
  if (isNetworkCode(code)) return new ImapError('unreachable', 'connect', 'The server could not be reached');
  return new ImapError('protocol', 'greeting', 'This does not answer like an IMAP server');
}

function isNetworkCode(code: string | undefined): boolean {
  return (
    code !== undefined &&
    /^(?:E[A-Z]+|NoConnection|EConnectionClosed|StateLogout|ClosedAfterConnect(?:Text|TLS)|[A-Z]+_TIMEOUT)$/.test(code)
  );
}

function clip(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, 500);
}
