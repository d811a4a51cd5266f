import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { EgressError, resolveMailHost, type Lookup } from '../egress/index.ts';

export interface ProbeOptions {
  port: number;
  /** True to allow mail servers on private addresses. */
  allowPrivate: boolean;
  /** Host name given in EHLO. */
  name: string;
  /** Address given in MAIL FROM. The address should be able to receive mail. */
  from: string;
  /** Timeout (ms) of the whole conversation, including the host look-up but not the QUIT. */
  timeoutMs: number;
  lookup?: Lookup;
}

/** A server's reply to one command: its code and its shortened text. */
export interface ProbeReply {
  code: number;
  words: string;
}

/**
 * - `asked`: the reply to each recipient, in order; fewer if the server ended the session;
 * - `refused`: the server refuses the session; with its reply and the refused command;
 * - `unreachable`: no session was established, or it broke before the first recipient.
 */
type ProbeResult =
  | { kind: 'asked'; replies: ProbeReply[] }
  | { kind: 'refused'; at: 'greeting' | 'ehlo' | 'mail'; reply: ProbeReply }
  | { kind: 'unreachable' };

/** Timeout (ms) for ending a conversation. */
const GOODBYE_MS = 500;
const MAX_LINE = 4_096;
const MAX_REPLY_LINES = 100;
const MAX_WORDS = 1_000;

/**
 * Asks a mail server whether it would accept mail for addresses: EHLO, MAIL FROM, RCPT TO for each, QUIT. Never sends
 * DATA, so no mail is sent. The host is checked like every outbound host, and the connection goes to the checked
 * address. Uses clear text, because there is no sign-in and the content reveals no more than the DNS queries. Never
 * throws.
 * @param recipients addresses of one line each, without angle brackets
 */
export async function probeRecipients(
  host: string,
  recipients: readonly string[],
  options: ProbeOptions,
): Promise<ProbeResult> {
  const signal = AbortSignal.timeout(options.timeoutMs);
  const conversation = await Conversation.open(host, options, signal);
  if (!conversation) return { kind: 'unreachable' };
  try {
    const refusal = await introduce(conversation, options);
    if (refusal) return refusal;
    const replies: ProbeReply[] = [];
    for (const recipient of recipients) {
      const reply = await conversation.say(`RCPT TO:<${recipient}>`).catch(() => undefined);
      if (!reply) break;
      replies.push(reply);
      // With 421 the server closes the connection.
      if (reply.code === 421) break;
    }
    return replies.length > 0 ? { kind: 'asked', replies } : { kind: 'unreachable' };
  } catch {
    return { kind: 'unreachable' };
  } finally {
    await conversation.end();
  }
}

/** Sends the commands up to MAIL FROM. Returns undefined if the server accepts them. */
async function introduce(
  conversation: Conversation,
  { name, from }: ProbeOptions,
): Promise<Extract<ProbeResult, { kind: 'refused' }> | undefined> {
  const greeting = await conversation.reply();
  if (greeting.code !== 220) return { kind: 'refused', at: 'greeting', reply: greeting };
  let hello = await conversation.say(`EHLO ${name}`);
  if (hello.code >= 500) hello = await conversation.say(`HELO ${name}`);
  if (hello.code !== 250) return { kind: 'refused', at: 'ehlo', reply: hello };
  const mail = await conversation.say(`MAIL FROM:<${from}>`);
  return mail.code === 250 ? undefined : { kind: 'refused', at: 'mail', reply: mail };
}

/** Sends commands and reads replies over one socket, one after another. */
class Conversation {
  readonly #socket: Socket;
  #pending = '';
  #lines: string[] = [];
  #broken = false;
  #wake = () => {};

  private constructor(socket: Socket, signal: AbortSignal) {
    this.#socket = socket;
    const breakOff = () => {
      this.#broken = true;
      this.#wake();
    };
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => this.#take(chunk));
    socket.on('end', breakOff);
    socket.on('close', breakOff);
    socket.on('error', breakOff);
    signal.addEventListener('abort', () => socket.destroy(), { once: true });
  }

  static async open(
    host: string,
    { port, allowPrivate, lookup }: ProbeOptions,
    signal: AbortSignal,
  ): Promise<Conversation | undefined> {
    try {
      const { address, family } = await resolveMailHost(host, port, { allowPrivate, ...(lookup && { lookup }) });
      if (signal.aborted) return undefined;
      return new Conversation(connect({ host: address, port, family }), signal);
    } catch (error) {
      if (error instanceof EgressError) return undefined;
      throw error;
    }
  }

  say(command: string): Promise<ProbeReply> {
    this.#socket.write(`${command}\r\n`);
    return this.reply();
  }

  /**
   * Reads the next reply with all its lines.
   * @throws Error when the conversation broke, or the data is no reply
   */
  async reply(): Promise<ProbeReply> {
    const words: string[] = [];
    for (let count = 0; count < MAX_REPLY_LINES; count += 1) {
      const line = await this.#line();
      const [, code, more, text] = /^([2-5]\d\d)([ -]?)(.*)$/.exec(line) ?? [];
      if (code === undefined) break;
      words.push(text!);
      if (more !== '-') return { code: Number(code), words: words.join(' ').slice(0, MAX_WORDS) };
    }
    this.#socket.destroy();
    throw new Error('What the server said is no reply');
  }

  /** Sends QUIT and waits briefly for the server to close. The socket is then closed in any case. */
  async end(): Promise<void> {
    if (!this.#broken) this.#socket.end('QUIT\r\n');
    if (!this.#socket.closed)
      await Promise.race([once(this.#socket, 'close').catch(() => {}), sleep(GOODBYE_MS, undefined, { ref: false })]);
    this.#socket.destroy();
  }

  async #line(): Promise<string> {
    while (this.#lines.length === 0) {
      if (this.#broken) throw new Error('The conversation ended');
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#lines.shift()!;
  }

  #take(chunk: string): void {
    const lines = (this.#pending + chunk).split(/\r?\n/);
    this.#pending = lines.pop()!;
    this.#lines.push(...lines);
    if (this.#pending.length > MAX_LINE || this.#lines.length > MAX_REPLY_LINES) this.#socket.destroy();
    this.#wake();
  }
}
