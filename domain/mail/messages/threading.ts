import { domainToASCII } from 'node:url';
import { headerText } from './text.ts';

/** A conversation with one recipient so far. */
export interface Conversation {
  /** Subject of its first message, without reply prefix; empty before that. */
  readonly subject: string;
  /** Message-IDs with angle brackets, oldest first. */
  readonly messageIds: readonly string[];
}

/** The headers by which a message belongs to a conversation. */
interface Threading {
  readonly subject: string;
  readonly inReplyTo?: string;
  readonly references?: string[];
  /** The conversation after this message. */
  readonly conversation: Conversation;
}

/** Most Message-IDs named in References: the first, which mail readers group by, and the latest. */
const MAX_REFERENCES = 20;

/**
 * The RFC 5322 Message-ID of a send: `<sendId@domain of the sender>`. The same send always has the same one, so that a
 * send whose outcome is unknown can be looked up in the Sent folder.
 *
 * @throws {TypeError} when the send id or the address has no usable characters.
 */
export function messageIdFor(sendId: string, senderAddress: string): string {
  const local = sendId.replace(/[^A-Za-z0-9._-]/g, '');
  const domain = domainToASCII(senderAddress.slice(senderAddress.lastIndexOf('@') + 1).trim());
  if (!local || !domain) throw new TypeError('a Message-ID needs a send id and a sender address');
  return `<${local}@${domain}>`;
}

/**
 * Whether a step is sent as a reply when its author did not say: it is when it has no subject or the conversation's
 * own.
 */
export function defaultThreadReply(stepSubject: string | null | undefined, conversationSubject: string): boolean {
  const subject = withoutReplyPrefix(stepSubject ?? '');
  return subject === '' || subject === withoutReplyPrefix(conversationSubject);
}

/**
 * Threads a message: with `threadReply` and something to reply to, a reply under the conversation's subject with one
 * `Re: `; otherwise the start of a new conversation under its own subject. One that has none takes the subject of an email
 * that may not have arrived, without the prefix of a reply.
 */
export function threadMessage(input: {
  readonly threadReply: boolean;
  readonly subject: string;
  readonly messageId: string;
  readonly conversation: Conversation;
}): Threading {
  const { conversation, messageId } = input;
  const earlier = conversation.messageIds;
  const latest = earlier.at(-1);
  if (!input.threadReply || latest === undefined) {
    const subject = headerText(input.subject) || conversation.subject;
    return { subject, conversation: { subject: withoutReplyPrefix(subject), messageIds: [messageId] } };
  }
  const subject = withoutReplyPrefix(conversation.subject) || withoutReplyPrefix(input.subject);
  const isLong = earlier.length > MAX_REFERENCES;
  const references = isLong ? [earlier[0]!, ...earlier.slice(1 - MAX_REFERENCES)] : [...earlier];
  return {
    subject: `Re: ${subject}`.trim(),
    inReplyTo: latest,
    references,
    conversation: { subject, messageIds: [...earlier, messageId] },
  };
}

/** A subject without `Re:` before it, in one line. */
export function withoutReplyPrefix(subject: string): string {
  return headerText(subject).replace(/^(?:re\s*:\s*)+/i, '');
}
