import { domainToASCII } from 'node:url';
import { headerText } from './text.ts';

/** The past conversation with one recipient. */
export interface Conversation {
  /** Subject of its first message, without reply prefix. Empty before the first message. */
  readonly subject: string;
  /** Message-IDs with angle brackets, oldest first. */
  readonly messageIds: readonly string[];
}

/** Headers that assign a message to a conversation. */
interface Threading {
  readonly subject: string;
  readonly inReplyTo?: string;
  readonly references?: string[];
  /** State of the conversation after the message. */
  readonly conversation: Conversation;
}

/** Maximum number of Message-IDs in References: the first, by which mail readers group, and the latest. */
const MAX_REFERENCES = 20;

/**
 * Returns the RFC 5322 Message-ID of a send: `<sendId@domain of the sender>`. The same send always has the same id, so
 * that a send with unknown outcome can be looked up in the Sent folder.
 * @throws {TypeError} when the send id or the address has no usable characters
 */
export function messageIdFor(sendId: string, senderAddress: string): string {
  const local = sendId.replace(/[^A-Za-z0-9._-]/g, '');
  const domain = domainToASCII(senderAddress.slice(senderAddress.lastIndexOf('@') + 1).trim());
  if (!local || !domain) throw new TypeError('a Message-ID needs a send id and a sender address');
  return `<${local}@${domain}>`;
}

/**
 * Returns the default of a step's setting `thread_reply`: true if the step's subject is empty or equals the
 * conversation's.
 */
export function defaultThreadReply(stepSubject: string | null | undefined, conversationSubject: string): boolean {
  const subject = withoutReplyPrefix(stepSubject ?? '');
  return subject === '' || subject === withoutReplyPrefix(conversationSubject);
}

/**
 * Returns the threading headers of a message. With `threadReply` and an earlier message, it is a reply whose subject is
 * the conversation's with one `Re: `. Otherwise it starts a new conversation under its own subject. A message without a
 * subject gets that of the earlier email without the reply prefix, even if the earlier email may not have arrived.
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
  return {
    subject: `Re: ${subject}`.trim(),
    inReplyTo: latest,
    references: limitReferences(earlier),
    conversation: { subject, messageIds: [...earlier, messageId] },
  };
}

/** Returns at most {@link MAX_REFERENCES} Message-IDs for References, oldest first. */
export function limitReferences(ids: readonly string[]): string[] {
  return ids.length > MAX_REFERENCES ? [ids[0]!, ...ids.slice(1 - MAX_REFERENCES)] : [...ids];
}

/** Returns a subject on one line, without leading `Re:`. */
export function withoutReplyPrefix(subject: string): string {
  return headerText(subject).replace(/^(?:re\s*:\s*)+/i, '');
}
