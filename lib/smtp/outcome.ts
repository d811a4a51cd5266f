/** The result of an SMTP conversation. The kinds differ in whether the message may have left. */
export type SmtpOutcome =
  /**
   * The server took responsibility for the message, for all recipients but the rejected ones. `assignedId` is the Message-ID
   * with which it replaced ours, with angle brackets, where its answer says so.
   */
  | { kind: 'accepted'; response: string; rejected: RejectedRecipient[]; assignedId?: string }
  /** The server refused; nothing left. `permanent` is a 5xx answer. */
  | {
      kind: 'refused';
      stage: 'connect' | 'tls' | 'auth' | 'sender' | 'recipient' | 'data';
      code: number;
      response: string;
      permanent: boolean;
    }
  /** The conversation broke before the message was sent; nothing left. */
  | { kind: 'unreachable'; stage: 'dns' | 'connect' | 'tls' | 'greeting' | 'session'; detail: string }
  /** The caller did not let the message end: the server has a part of it and must drop that; nothing left. */
  | { kind: 'withheld'; detail: string }
  /** The end of the message was on its way, but no answer came: it may have left. */
  | { kind: 'unknown'; detail: string };

/** Every outcome but the good one. */
export type SmtpFault = Exclude<SmtpOutcome, { kind: 'accepted' | 'withheld' }>;

/** A recipient that the server refused, while it accepted others. */
export interface RejectedRecipient {
  /** As it stood in the envelope. */
  recipient: string;
  code: number;
  response: string;
}

/** The server and the account of an SMTP connection. */
export interface SmtpTarget {
  host: string;
  port: number;
  security: 'tls' | 'starttls' | 'none';
  username: string;
  /** Empty where an access token takes its place. */
  password: string;
  /** Signs in by XOAUTH2 with this instead of the password. */
  accessToken?: string;
}

/** The error of nodemailer for a conversation that failed. */
export interface ConversationError extends Error {
  code?: string;
  command?: string;
  responseCode?: number;
  response?: string;
}

/** A broken conversation, as an outcome. Thrown inside this folder only. */
export class SmtpFailure extends Error {
  readonly outcome: SmtpFault;

  constructor(outcome: SmtpFault) {
    super(outcome.kind === 'refused' ? outcome.response : outcome.detail);
    this.outcome = outcome;
  }
}

/** A server's answer on one line, cut to a bounded length. */
export function clip(text: string | undefined): string {
  return (text ?? '').replace(/\s+/g, ' ').trim().slice(0, 500);
}

/**
 * What an error up to the sign-in means.
 * @param clean takes secrets out of what the server said
 */
export function openingFault(error: ConversationError, clean: (words: string) => string): SmtpFault {
  const code = error.responseCode ?? 0;
  if (code >= 400) {
    const stage =
      error.code === 'EAUTH' ? 'auth' : error.code === 'ETLS' || error.command === 'STARTTLS' ? 'tls' : 'connect';
    return { kind: 'refused', stage, code, response: clip(clean(error.response ?? '')), permanent: code >= 500 };
  }
  if (error.code === 'EAUTH')
    return {
      kind: 'refused',
      stage: 'auth',
      code: 0,
      response: 'The server offers no way to sign in that we know',
      permanent: true,
    };
  if (error.code === 'EDNS')
    return { kind: 'unreachable', stage: 'dns', detail: 'The host name could not be resolved' };
  if (error.code === 'ETLS' || error.command === 'STARTTLS' || /certificate|SSL|TLS/i.test(error.message)) {
    return { kind: 'unreachable', stage: 'tls', detail: 'TLS could not be negotiated: ' + clip(error.message) };
  }
  if (error.code === 'ETIMEDOUT')
    return {
      kind: 'unreachable',
      stage: /greeting/i.test(error.message) ? 'greeting' : 'connect',
      detail: 'The server did not answer in time',
    };
  return { kind: 'unreachable', stage: 'connect', detail: 'The server could not be reached' };
}

/**
 * What an error after the sign-in means.
 * @param options.handedOver whether the end of the message may be with the server
 */
export function sendingFault(error: ConversationError, { handedOver }: { handedOver: boolean }): SmtpFault {
  const code = error.responseCode ?? 0;
  // A 421 closes the channel before or instead of an answer; it is a refusal all the same.
  if (code >= 400) {
    const stage = error.command === 'RCPT TO' ? 'recipient' : error.command === 'MAIL FROM' ? 'sender' : 'data';
    return { kind: 'refused', stage, code, response: clip(error.response), permanent: code >= 500 };
  }
  if (handedOver) return { kind: 'unknown', detail: 'The conversation broke after the message was handed over' };
  // Refused before sending: the message is too large for the server, or an address cannot be encoded.
  if (error.code === 'EMESSAGE')
    return { kind: 'refused', stage: 'data', code: 552, response: clip(error.message), permanent: true };
  if (error.code === 'EENVELOPE' && error.command === 'API')
    return { kind: 'refused', stage: 'recipient', code: 553, response: clip(error.message), permanent: true };
  return { kind: 'unreachable', stage: 'session', detail: 'The conversation broke before the message was handed over' };
}

/** Amazon SES says the local part alone; the domain follows from the region in the name of its host. */
const SES_ANSWER = /^250 ok ([0-9a-f]+(?:-[0-9a-f]+)+)$/i;
const SES_HOST = /^email-smtp(?:-fips)?\.([a-z]{2}(?:-[a-z]+)+-\d+)\.amazonaws\.com\.?$/i;

/**
 * The Message-ID, with angle brackets, that a server names in its answer to a message: relays that replace the sender's
 * (Microsoft 365, Amazon SES) say so there, and replies name theirs.
 * @param host the server's name, as the mailbox is set up with it
 */
export function assignedIdIn(response: string, host: string): string | undefined {
  const named = /<[^<>\s@]+@[^<>\s@]+>/.exec(response)?.[0];
  if (named) return named;
  const local = SES_ANSWER.exec(response)?.[1];
  const region = SES_HOST.exec(host)?.[1]?.toLowerCase();
  if (!local || !region) return undefined;
  return `<${local.toLowerCase()}@${region === 'us-east-1' ? 'email' : region}.amazonses.com>`;
}
