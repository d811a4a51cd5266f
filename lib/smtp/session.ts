import { Readable } from 'node:stream';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { EgressError, resolveMailHost } from '../egress/index.ts';
import { withoutSecrets } from '../without-secrets.ts';
import { message, type Message } from '../../messages/index.ts';
import { render } from '../../messages/render.ts';
import {
  assignedIdIn,
  clip,
  openingFault,
  sendingFault,
  SmtpFailure,
  type ConversationError,
  type RejectedRecipient,
  type SmtpOutcome,
  type SmtpTarget,
} from './outcome.ts';

export interface SessionOptions {
  allowPrivate: boolean;
  /** Host name given in EHLO. */
  name?: string;
  /** Timeout (ms) of each phase: connecting, the greeting, the sign-in. */
  connectTimeoutMs?: number;
  /** Time (ms) without data from the server after which the connection is closed. */
  socketTimeoutMs?: number;
}

/** Sender and recipients of one message. */
export interface Envelope {
  from: string;
  to: string[];
}

type Done = (error?: Error | null, value?: unknown) => void;
type Login = Parameters<SMTPConnection['login']>[0];

/** One authenticated SMTP session. Messages are sent one after another. */
export class SmtpSession {
  readonly #connection: SMTPConnection;
  readonly #resetTimeout: number;
  readonly #host: string;
  /**
   * Rejects the pending promise, because nodemailer calls no callback when a connection breaks during sign-in or RSET.
   */
  #broken: Done = () => {};
  messages = 0;
  closed = false;
  /** Time (performance.now(), ms) at which the session became idle. */
  idleSince: number | undefined;

  private constructor(connection: SMTPConnection, resetTimeout: number, host: string) {
    this.#connection = connection;
    this.#host = host;
    this.#resetTimeout = resetTimeout;
    connection.on('error', (error) => {
      this.closed = true;
      this.#broken(error);
    });
    connection.on('end', () => {
      this.closed = true;
      // Waits until the answer that ended the session has been reported.
      setImmediate(() => this.#broken(new Error('The conversation ended')));
    });
  }

  /**
   * Connects to a checked address, negotiates TLS as configured, and signs in.
   * @param until deadline (performance.now(), ms)
   * @throws SmtpFailure refused or unreachable
   */
  static async open(target: SmtpTarget, options: SessionOptions, until: number): Promise<SmtpSession> {
    const connectTimeout = options.connectTimeoutMs ?? 10_000;
    let host;
    try {
      host = await resolveMailHost(target.host, target.port, { allowPrivate: options.allowPrivate });
    } catch (error) {
      const stage = error instanceof EgressError && error.kind === 'dns' ? 'dns' : 'connect';
      const reason = error instanceof EgressError ? error.said : message('mailboxes.unreachable_dns');
      throw new SmtpFailure({ kind: 'unreachable', stage, reason });
    }
    const connection = new SMTPConnection({
      host: host.address,
      port: target.port,
      ...(host.servername ? { servername: host.servername, tls: { servername: host.servername } } : {}),
      secure: target.security === 'tls',
      requireTLS: target.security === 'starttls',
      ignoreTLS: target.security === 'none',
      connectionTimeout: connectTimeout,
      greetingTimeout: connectTimeout,
      socketTimeout: options.socketTimeoutMs ?? 45_000,
      ...(options.name ? { name: options.name } : {}),
    });
    const session = new SmtpSession(connection, connectTimeout, target.host);
    const clean = (words: string) => withoutSecrets(words, target);
    try {
      await session.#ask((done) => connection.connect(done), Math.min(until, performance.now() + 2 * connectTimeout));
    } catch (error) {
      session.close();
      throw new SmtpFailure(openingFault(error as ConversationError, clean));
    }
    try {
      const signedIn = Math.min(until, performance.now() + Math.max(connectTimeout, options.socketTimeoutMs ?? 0));
      await session.#ask((done) => connection.login(loginOf(target), done), signedIn);
    } catch (error) {
      session.close();
      const fault = openingFault(error as ConversationError, clean);
      throw new SmtpFailure(
        fault.kind === 'unreachable'
          ? { kind: 'unreachable', stage: 'session', reason: message('smtp.broke_at_sign_in') }
          : fault,
      );
    }
    return session;
  }

  /**
   * Submits one message. Never throws.
   * @param until deadline (performance.now(), ms): after it, nothing more is sent and no answer is awaited
   * @param beforeEnd called when the server has the rest of the message; returns true if the message may end
   */
  async send(
    envelope: Envelope,
    raw: Buffer,
    until: number,
    beforeEnd: () => Promise<boolean> = async () => true,
  ): Promise<SmtpOutcome> {
    this.messages += 1;
    let begun = false;
    let withheld: Message | undefined;
    let handedOver = false;
    // The library writes the final dot when this stream ends. The server may deliver the message after the dot, so from
    // then on a missing answer does not prove that it was not sent.
    const body = new Readable({
      read() {
        if (!begun) {
          begun = true;
          this.push(raw);
        } else if (!asked) {
          asked = true;
          void end();
        }
      },
    });
    let asked = false;
    const end = async (): Promise<void> => {
      try {
        const may = await beforeEnd();
        if (this.closed) return;
        if (!may) withheld = message('smtp.not_allowed_to_end');
        else if (performance.now() > until) withheld = message('smtp.no_time_to_end');
        else {
          handedOver = true;
          body.push(null);
          return;
        }
      } catch {
        withheld = message('smtp.end_not_decided');
      }
      body.destroy(new Error(render(withheld)));
    };
    try {
      const info = await this.#ask(
        (done) => this.#connection.send({ from: envelope.from, to: envelope.to, size: raw.length }, body, done),
        until,
      );
      const { response, rejectedErrors = [] } = info as {
        response?: string;
        rejectedErrors?: (ConversationError & { recipient?: string })[];
      };
      const rejected = rejectedErrors.map((error): RejectedRecipient => ({
        recipient: error.recipient ?? '',
        code: error.responseCode ?? 0,
        response: clip(error.response),
      }));
      const assignedId = assignedIdIn(clip(response), this.#host);
      return { kind: 'accepted', response: clip(response), rejected, ...(assignedId ? { assignedId } : {}) };
    } catch (error) {
      // The rest of an incomplete or refused message must not become part of the next message.
      if (withheld !== undefined) {
        this.#abort();
        return { kind: 'withheld', reason: withheld };
      }
      const outcome = sendingFault(error as ConversationError, { handedOver });
      if (outcome.kind !== 'refused' || begun) this.#abort();
      return outcome;
    }
  }

  /** Maximum size (bytes) of a message by the server's SIZE (RFC 1870); null if it states no limit. */
  get maxBytes(): number | null {
    // The library stores the number for its own check, but its types do not declare it.
    return (this.#connection as unknown as { _maxAllowedSize: number })._maxAllowedSize || null;
  }

  /** Makes the session ready for another message after a refusal. Returns false if that fails. */
  async reset(): Promise<boolean> {
    if (this.closed) return false;
    try {
      await this.#ask((done) => this.#connection.reset(done), performance.now() + this.#resetTimeout);
      return true;
    } catch {
      this.#abort();
      return false;
    }
  }

  /** Sends QUIT, unless the connection is closed, and lets the socket close. */
  close(): void {
    if (!this.closed) this.#connection.quit();
    this.#abort();
  }

  #abort(): void {
    this.closed = true;
    this.#connection.close();
  }

  /**
   * Runs one exchange of command and answer. It ends with nodemailer's callback, a broken connection, or the deadline.
   */
  #ask(start: (done: Done) => void, until: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const left = until - performance.now();
      const settle: Done = (error, value) => {
        clearTimeout(timer);
        this.#broken = () => {};
        if (error) reject(error);
        else resolve(value);
      };
      const timer = Number.isFinite(left)
        ? setTimeout(
            () => settle(Object.assign(new Error('The server did not answer in time'), { code: 'ETIMEDOUT' })),
            Math.max(0, left),
          )
        : undefined;
      if (left <= 0) return;
      this.#broken = settle;
      start(settle);
    });
  }
}

/**
 * Returns the credentials for signing in. After a refusal the library calls for a new access token, which this process
 * does not have. So the call fails, and the mailbox shows the refusal.
 */
function loginOf({ username, password, accessToken }: SmtpTarget): Login {
  if (accessToken === undefined) return { user: username, pass: password };
  const refused = { responseCode: 535, said: message('smtp.token_refused') };
  const oauth2 = {
    getToken: (again: boolean, done: (error: Error | null, token?: string) => void) =>
      again ? done(Object.assign(new Error(render(refused.said)), refused)) : done(null, accessToken),
    buildXOAuth2Token: (token: string) =>
      Buffer.from(`user=${username}\u0001auth=Bearer ${token}\u0001\u0001`).toString('base64'),
  };
  return { user: username, oauth2: oauth2 as never };
}
