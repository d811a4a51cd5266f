import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { simpleParser, type ParsedMail } from 'mailparser';
import { SMTPServer } from 'smtp-server';

/**
 * Behaviour for mail to one address:
 * - `reject`: refuses at RCPT permanently (by default with 550);
 * - `defer`: refuses at RCPT temporarily (451) the first `times` times, then accepts;
 * - `drop`: accepts the message and cuts the connection before the answer to DATA, `times` times (default: once); with
 * `lose` the message is not accepted;
 * - `delay`: answers DATA `ms` milliseconds late.
 */
export type RecipientScript =
  | { kind: 'reject'; code?: number; message?: string }
  | { kind: 'defer'; times: number; code?: number; message?: string }
  | { kind: 'drop'; times?: number; lose?: boolean }
  | { kind: 'delay'; ms: number };

/** Message that the server has accepted. */
export interface ReceivedMessage {
  envelope: { from: string; to: string[] };
  /** Login of the sender. */
  user: string;
  /** Bytes as received. */
  raw: Buffer;
  /** Time of the last byte. */
  at: Date;
  /** False if the sender did not get the acceptance. */
  answered: boolean;
  /** Parses the message at the first call and caches the result. */
  parsed(): Promise<ParsedMail>;
}

export interface SmtpSink {
  host: string;
  port: number;
  /** Every message accepted so far, oldest first. */
  messages: readonly ReceivedMessage[];
  script: (address: string, script: RecipientScript) => void;
  /** Refuses every recipient of emails from this login with this answer; undefined accepts them again. */
  refuseSender: (user: string, refusal: { code: number; message: string } | undefined) => void;
  /** If true, cuts open and new connections like an unreachable server; if false, accepts them again. */
  setAway: (away: boolean) => void;
  /** Number of new connections cut by {@link setAway}. */
  readonly turnedAway: number;
  stop(): Promise<void>;
}

interface SmtpSinkOptions {
  startTls: boolean;
  /** Port of the server. Default: a free one. */
  port?: number;
  accepts: (user: string, password: string) => boolean;
  /** Returns true for an access token that is valid for XOAUTH2. */
  acceptsToken: (user: string, token: string) => boolean;
  onMessage: (message: ReceivedMessage) => void;
}

/** Starts an SMTP server on 127.0.0.1 that accepts mail from everyone who can log in. */
export async function startSmtpSink(options: SmtpSinkOptions): Promise<SmtpSink> {
  const messages: ReceivedMessage[] = [];
  const scripts = new Map<string, RecipientScript>();
  const sockets = new Map<number, Socket>();
  const refusedSenders = new Map<string, { code: number; message: string }>();
  let isAway = false;
  let turnedAway = 0;

  const server = new SMTPServer({
    disabledCommands: options.startTls ? [] : ['STARTTLS'],
    allowInsecureAuth: true,
    authMethods: ['PLAIN', 'LOGIN', 'XOAUTH2'],
    disableReverseLookup: true,
    closeTimeout: 200,
    onAuth(auth, _session, callback) {
      const username = auth.username ?? '';
      // An access token is not accepted as a password, as at real providers.
      const accepted =
        auth.method === 'XOAUTH2'
          ? options.acceptsToken(username, auth.accessToken ?? '')
          : options.accepts(username, auth.password ?? '');
      if (accepted) callback(null, { user: username });
      else callback(smtpError(535, '5.7.8 Authentication credentials invalid'));
    },
    onRcptTo(address, session, callback) {
      const limit = refusedSenders.get(String(session.user).toLowerCase());
      callback(limit ? smtpError(limit.code, limit.message) : refusal(scripts, address.address));
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map((recipient) => recipient.address);
        const drop = takeDrop(scripts, to);
        if (!drop?.lose) {
          const { mailFrom } = session.envelope;
          const message = toMessage(Buffer.concat(chunks), {
            envelope: { from: mailFrom ? mailFrom.address : '', to },
            user: String(session.user),
            answered: drop === undefined,
          });
          messages.push(message);
          options.onMessage(message);
        }
        if (drop) sockets.get(session.remotePort)?.destroy();
        else setTimeout(callback, delayFor(scripts, to));
      });
    },
  });
  server.server.on('connection', (socket: Socket) => {
    if (isAway) {
      turnedAway += 1;
      socket.destroy();
      return;
    }
    const port = socket.remotePort!;
    sockets.set(port, socket);
    socket.once('close', () => sockets.delete(port));
  });
  const listening = once(server.server, 'listening');
  server.listen(options.port ?? 0, '127.0.0.1');
  await listening;
  // Ignores errors of connections that tests cut in the middle of a message.
  server.on('error', () => undefined);

  return {
    host: '127.0.0.1',
    port: (server.server.address() as AddressInfo).port,
    messages,
    script: (address, script) => void scripts.set(address.toLowerCase(), { ...script }),
    refuseSender(user, refused) {
      if (refused) refusedSenders.set(user.toLowerCase(), refused);
      else refusedSenders.delete(user.toLowerCase());
    },
    setAway(away) {
      isAway = away;
      if (away) for (const socket of sockets.values()) socket.destroy();
    },
    get turnedAway() {
      return turnedAway;
    },
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets.values()) socket.destroy();
      await closed;
    },
  };
}

function refusal(scripts: Map<string, RecipientScript>, address: string): Error | null {
  const script = scripts.get(address.toLowerCase());
  if (script?.kind === 'reject') {
    return smtpError(script.code ?? 550, script.message ?? '5.1.1 The email account does not exist');
  }
  if (script?.kind === 'defer' && script.times > 0) {
    script.times -= 1;
    return smtpError(script.code ?? 451, script.message ?? '4.7.1 Greylisted, try again later');
  }
  return null;
}

function takeDrop(scripts: Map<string, RecipientScript>, to: string[]): { lose: boolean } | undefined {
  for (const address of to) {
    const script = scripts.get(address.toLowerCase());
    if (script?.kind !== 'drop' || script.times === 0) continue;
    script.times = (script.times ?? 1) - 1;
    return { lose: script.lose ?? false };
  }
  return undefined;
}

function delayFor(scripts: Map<string, RecipientScript>, to: string[]): number {
  const delays = to.map((address) => {
    const script = scripts.get(address.toLowerCase());
    return script?.kind === 'delay' ? script.ms : 0;
  });
  return Math.max(0, ...delays);
}

function toMessage(raw: Buffer, rest: Pick<ReceivedMessage, 'envelope' | 'user' | 'answered'>): ReceivedMessage {
  let parsing: Promise<ParsedMail> | undefined;
  return { ...rest, raw, at: new Date(), parsed: () => (parsing ??= simpleParser(raw)) };
}

function smtpError(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
