import { message, type Message } from '../../messages/index.ts';
import { render } from '../../messages/render.ts';

/** Result of an SMTP conversation. Its kind shows if the message may have been sent. */
export type SmtpOutcome =
  /**
   * The server accepted the message for all recipients except the rejected ones. `assignedId` is the Message-ID, with
   * angle brackets, that the server assigned in place of the submitted one. It is absent if the answer contains no id.
   */
  | { kind: 'accepted'; response: string; rejected: RejectedRecipient[]; assignedId?: string }
  /**
   * The server refused the message, so it was not sent. `permanent` means a 5xx answer. `reason` is set if this process
   * refused the message instead of the server; `response` is then empty.
   */
  | {
      kind: 'refused';
      stage: 'connect' | 'tls' | 'auth' | 'sender' | 'recipient' | 'data';
      code: number;
      response: string;
      permanent: boolean;
      reason?: Message;
    }
  /** The conversation broke before the message was sent. The message was not sent. */
  | { kind: 'unreachable'; stage: 'dns' | 'connect' | 'tls' | 'greeting' | 'session'; reason: Message }
  /** `beforeEnd` did not return true. The server must discard an incomplete message, so the message was not sent. */
  | { kind: 'withheld'; reason: Message }
  /** The end of the message was being sent, but no answer arrived. The message may have been sent. */
  | { kind: 'unknown'; reason: Message };

/** Every outcome except acceptance and a message withheld by the caller. */
export type SmtpFault = Exclude<SmtpOutcome, { kind: 'accepted' | 'withheld' }>;

/** Returns the reason of a fault for people. For a refusal this is the server's own text. */
export function reasonOfFault(fault: SmtpFault): Message {
  return fault.kind === 'refused' ? (fault.reason ?? message('words', { words: clip(fault.response) })) : fault.reason;
}

/** A recipient that the server refused while it accepted other recipients. */
export interface RejectedRecipient {
  /** Address of the recipient as in the envelope. */
  recipient: string;
  code: number;
  response: string;
}

/**
 * Host of the mailboxes of test workspaces. Emails to it are accepted and discarded. The name cannot be resolved (RFC
 * 2606), so that no other program can send them either.
 */
export const TEST_HOST = 'test-mode.invalid';

export interface SmtpTarget {
  host: string;
  port: number;
  security: 'tls' | 'starttls' | 'none';
  username: string;
  /** Password of the account. Empty if an access token is used instead. */
  password: string;
  /** Access token for XOAUTH2, used instead of the password. */
  accessToken?: string;
}

/** nodemailer's error of a failed session. */
export interface ConversationError extends Error {
  code?: string;
  command?: string;
  responseCode?: number;
  response?: string;
  /** Reason of a refusal by this process, for which the library has no code. */
  said?: Message;
}

/** Error that carries the outcome of a broken session. Thrown only inside this folder. */
export class SmtpFailure extends Error {
  readonly outcome: SmtpFault;

  constructor(outcome: SmtpFault) {
    super(render(reasonOfFault(outcome)));
    this.outcome = outcome;
  }
}

/** Fault of a server that could not be reached. */
export const UNREACHABLE: SmtpFault = {
  kind: 'unreachable',
  stage: 'connect',
  reason: message('mailboxes.unreachable_connect'),
};

/** Returns a server's answer on one line, cut to 500 characters. */
export function clip(text: string | undefined): string {
  return (text ?? '').replace(/\s+/g, ' ').trim().slice(0, 500);
}

/**
 * Classifies an error up to the sign-in.
 * @param clean removes secrets from the server's text
 */
export function openingFault(error: ConversationError, clean: (words: string) => string): SmtpFault {
  const code = error.responseCode ?? 0;
  if (code >= 400) {
    const stage =
      error.code === 'EAUTH' ? 'auth' : error.code === 'ETLS' || error.command === 'STARTTLS' ? 'tls' : 'connect';
    const refused = { kind: 'refused', stage, code, permanent: code >= 500 } as const;
    return error.said
      ? { ...refused, response: '', reason: error.said }
      : { ...refused, response: clip(clean(error.response ?? '')) };
  }
  if (error.code === 'EAUTH') {
    const reason = message('smtp.no_sign_in_method');
    return { kind: 'refused', stage: 'auth', code: 0, response: '', permanent: true, reason };
  }
  if (error.code === 'EDNS') return { kind: 'unreachable', stage: 'dns', reason: message('mailboxes.unreachable_dns') };
  if (error.code === 'ETLS' || error.command === 'STARTTLS' || /certificate|SSL|TLS/i.test(error.message)) {
    const reason = message('smtp.tls_failed', { words: clip(clean(error.message)) });
    return { kind: 'unreachable', stage: 'tls', reason };
  }
  if (error.code === 'ETIMEDOUT')
    return /greeting/i.test(error.message)
      ? { kind: 'unreachable', stage: 'greeting', reason: message('mailboxes.unreachable_greeting') }
      : { kind: 'unreachable', stage: 'connect', reason: message('mailboxes.no_answer_in_time') };
  return UNREACHABLE;
}

/**
 * Classifies an error after the sign-in.
 * @param options.handedOver true if the server may have the end of the message
 */
export function sendingFault(error: ConversationError, { handedOver }: { handedOver: boolean }): SmtpFault {
  const code = error.responseCode ?? 0;
  // A 421 announces that the server closes the connection. It also counts as a refusal.
  if (code >= 400) {
    const stage = error.command === 'RCPT TO' ? 'recipient' : error.command === 'MAIL FROM' ? 'sender' : 'data';
    return { kind: 'refused', stage, code, response: clip(error.response), permanent: code >= 500 };
  }
  if (handedOver) return { kind: 'unknown', reason: message('smtp.broke_after_message') };
  // Refused locally before sending: the message is too large for the server, or an address cannot be encoded.
  if (error.code === 'EMESSAGE')
    return { kind: 'refused', stage: 'data', code: 552, response: `5.3.4 ${clip(error.message)}`, permanent: true };
  if (error.code === 'EENVELOPE' && error.command === 'API')
    return { kind: 'refused', stage: 'recipient', code: 553, response: clip(error.message), permanent: true };
  return { kind: 'unreachable', stage: 'session', reason: message('smtp.broke_before_message') };
}

/**
 * Answer of Amazon SES, which contains only the local part of the Message-ID. The region in the host name determines
 * the domain.
 */
const SES_ANSWER = /^250 ok ([0-9a-f]+(?:-[0-9a-f]+)+)$/i;
const SES_HOST = /^email-smtp(?:-fips)?\.([a-z]{2}(?:-[a-z]+)+-\d+)\.amazonaws\.com\.?$/i;

/**
 * Returns the Message-ID, with angle brackets, that a server names in its answer. Relays that replace the sender's
 * Message-ID (Microsoft 365, Amazon SES) return the new one in this answer, and replies refer to it.
 * @param host the server's name in the mailbox's settings
 */
export function assignedIdIn(response: string, host: string): string | undefined {
  const named = /<[^<>\s@]+@[^<>\s@]+>/.exec(response)?.[0];
  if (named) return named;
  const local = SES_ANSWER.exec(response)?.[1];
  const region = SES_HOST.exec(host)?.[1]?.toLowerCase();
  if (!local || !region) return undefined;
  return `<${local.toLowerCase()}@${region === 'us-east-1' ? 'email' : region}.amazonses.com>`;
}
