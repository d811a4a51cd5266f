import type { ImapFlow } from 'imapflow';
import { EgressError, resolveMailHost } from '../egress/index.ts';
import { withoutSecrets } from '../without-secrets.ts';
import { message, type Message } from '../../messages/index.ts';
import { render } from '../../messages/render.ts';

export interface ImapTarget {
  host: string;
  port: number;
  security: 'tls' | 'starttls' | 'none';
  username: string;
  /** Password of the account. Empty if an access token is used instead. */
  password: string;
  /** Access token for XOAUTH2 (or OAUTHBEARER, if the server supports it), used instead of the password. */
  accessToken?: string;
}

export interface ImapOptions {
  /** True to allow servers on private addresses (ALLOW_PRIVATE_MAIL_HOSTS). */
  allowPrivate: boolean;
  /** Timeout (ms) of each phase: the TCP connection, the TLS handshake, the greeting. */
  connectTimeoutMs?: number;
  /** Timeout (ms) for everything up to the end of the sign-in. Defaults to three times `connectTimeoutMs`. */
  openTimeoutMs?: number;
  /** Signal that aborts connecting. */
  signal?: AbortSignal;
  /**
   * Time (ms) without data from the server after which a connection counts as dead. IDLE is renewed before this time.
   */
  socketTimeoutMs?: number;
}

/**
 * Reason why a mailbox cannot be read: the server refused the sign-in (`auth`), was unreachable (`unreachable`), or
 * sent an invalid answer (`protocol`).
 */
type ImapErrorKind = 'auth' | 'unreachable' | 'protocol';

/** Server feature that reading a mailbox requires: opening the INBOX, UIDVALIDITY, fetching messages. */
type ImapNeed = 'select' | 'uidvalidity' | 'fetch';

/** Stage that a connection reached. */
type ImapStage = 'dns' | 'connect' | 'tls' | 'greeting' | 'auth' | 'session';

/**
 * A failed IMAP conversation. The tenant may see `said`, which contains no resolved address; `message` is the same text
 * in English.
 */
export class ImapError extends Error {
  override readonly name = 'ImapError';
  readonly kind: ImapErrorKind;
  readonly stage: ImapStage;
  /** True for a refused sign-in without a response code (RFC 5530): either wrong credentials or a temporary fault. */
  readonly doubtful: boolean;
  readonly said: Message;
  /** Required feature that the server lacks. */
  readonly needs: ImapNeed | undefined;

  constructor(
    kind: ImapErrorKind,
    stage: ImapStage,
    said: Message,
    { doubtful = false, needs }: { doubtful?: boolean; needs?: ImapNeed } = {},
  ) {
    super(render(said));
    this.said = said;
    this.needs = needs;
    this.kind = kind;
    this.stage = stage;
    this.doubtful = doubtful;
  }
}

/** Maximum number of bytes read of one message. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const MAX_RESPONSE_BYTES = 2 * MAX_MESSAGE_BYTES;
const MAX_LINE_BYTES = 4 * 1024 * 1024;

/**
 * Connects to a checked address, negotiates TLS as configured, and signs in. The caller closes the client.
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
      throw new ImapError('unreachable', error.kind === 'dns' ? 'dns' : 'connect', error.said);
    throw error;
  }
  // Loads the library only when it is needed: most processes open no mailbox, and loading it takes a tenth of their
  // startup time.
  const { ImapFlow: Client } = await import('imapflow');
  const client = new Client({
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
  // If the connection breaks later, the running command rejects. Without this listener it would also end the process.
  client.on('error', () => {});
  // The library would use its long timeout for new mail for the sign-in too, so the sign-in has its own timeout.
  let late = false;
  const giveUp = () => {
    late = true;
    client.close();
  };
  const timer = setTimeout(giveUp, openTimeout);
  options.signal?.addEventListener('abort', giveUp);
  try {
    if (options.signal?.aborted) throw new ImapError('unreachable', 'connect', message('egress.aborted'));
    await client.connect();
    return client;
  } catch (error) {
    client.close();
    if (late) throw new ImapError('unreachable', 'session', message('imap.sign_in_timeout'));
    throw error instanceof ImapError ? error : openingError(error, target);
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', giveUp);
  }
}

/**
 * Runs commands of an open conversation. Ends the connection if the server sends nothing for `silenceMs` during a
 * command. A large message may take long, as long as data keeps arriving.
 * @throws ImapError unreachable when the server went silent, or the error of `work`
 */
export async function withSilenceLimit<T>(client: ImapFlow, silenceMs: number, work: () => Promise<T>): Promise<T> {
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
    if (silent) throw new ImapError('unreachable', 'session', message('imap.silent'));
    return result;
  } catch (error) {
    if (silent) throw new ImapError('unreachable', 'session', message('imap.silent'));
    throw error;
  } finally {
    clearInterval(timer);
  }
}

/**
 * Returns true if the server could not be reached or did not answer. Returns false for a refusal, which is an answer.
 */
export function isUnanswered(error: unknown): boolean {
  const { kind, stage } = imapError(error);
  return kind === 'unreachable' && stage !== 'auth';
}

/**
 * Classifies an error of an open conversation.
 * @param target if given, its secrets are removed from the server's text
 */
export function imapError(error: unknown, target?: ImapTarget): ImapError {
  if (error instanceof ImapError) return error;
  const { responseText, authenticationFailed, code } = error as Fault;
  const words = saidBy(responseText, target);
  if (authenticationFailed) return new ImapError('auth', 'auth', words ?? message('imap.sign_in_refused'));
  if (words) return new ImapError('protocol', 'session', words);
  if (isNetworkCode(code)) return new ImapError('unreachable', 'session', message('mailboxes.unreachable_session'));
  return new ImapError('protocol', 'session', message('mailboxes.not_understood'));
}

/** Returns the server's text as a message; undefined if there is none. */
function saidBy(responseText: string | undefined, target: ImapTarget | undefined): Message | undefined {
  const words = clip(target ? withoutSecrets(responseText ?? '', target) : (responseText ?? ''));
  return words === '' ? undefined : message('words', { words });
}

interface Fault {
  code?: string;
  authenticationFailed?: boolean;
  tlsFailed?: boolean;
  responseText?: string;
  serverResponseCode?: string;
  message?: string;
}

/** Response codes (RFC 5530) of a temporary sign-in refusal, which is no evidence about the password. */
const PASSING = new Set(['UNAVAILABLE', 'INUSE', 'LIMIT', 'SERVERBUG', 'CONTACTADMIN', 'THROTTLED']);

function openingError(error: unknown, target: ImapTarget): ImapError {
  const fault = error as Fault;
  const words = saidBy(fault.responseText, target);
  if (fault.authenticationFailed) {
    if (PASSING.has(fault.serverResponseCode ?? ''))
      return new ImapError('unreachable', 'auth', words ?? message('imap.no_sign_in_now'));
    return new ImapError('auth', 'auth', words ?? message('imap.sign_in_refused'), {
      doubtful: !fault.serverResponseCode,
    });
  }
  const code = fault.code ?? '';
  if (fault.tlsFailed || /TLS|SSL|CERT|SELF_SIGNED|UNABLE_TO/.test(code) || /certificate/i.test(fault.message ?? '')) {
    return new ImapError('unreachable', 'tls', message('imap.tls_failed'));
  }
  if (code === 'CONNECT_TIMEOUT')
    return new ImapError('unreachable', 'connect', message('mailboxes.no_answer_in_time'));
  if (code === 'GREETING_TIMEOUT')
    return new ImapError('unreachable', 'greeting', message('mailboxes.unreachable_greeting'));
  if (code === 'UPGRADE_TIMEOUT') return new ImapError('unreachable', 'tls', message('imap.tls_timeout'));
  if (words) return new ImapError('protocol', 'greeting', words);
  if (isNetworkCode(code)) return new ImapError('unreachable', 'connect', message('mailboxes.unreachable_connect'));
  return new ImapError('protocol', 'greeting', message('imap.not_imap'));
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
