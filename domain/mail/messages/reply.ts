import { headerText } from './text.ts';
import { limitReferences, withoutReplyPrefix } from './threading.ts';

/**
 * Domain of generated ids for messages without their own Message-ID. An id of this domain must not be written into
 * headers, because no other mail program knows it.
 */
const MADE_UP = '@no-message-id.invalid>';

/** Headers that link an answer to the answered message (RFC 5322, 3.6.4). */
interface ReplyHeaders {
  /** Null if the answered message has no Message-ID. */
  inReplyTo: string | null;
  /** Message-IDs, oldest first. */
  references: string[];
}

/**
 * Returns the headers of an answer. References contains the answered message's References, followed by its Message-ID.
 */
export function replyHeaders(answered: {
  message_id: string;
  in_reply_to: string | null;
  reference_ids: readonly string[];
}): ReplyHeaders {
  const { message_id: id, in_reply_to: parent, reference_ids: earlier } = answered;
  const chain = earlier.length > 0 ? earlier : parent === null ? [] : [parent];
  const known = [...new Set([...chain, id])].filter((one) => isMessageId(one));
  return { inReplyTo: isMessageId(id) ? id : null, references: limitReferences(known) };
}

/**
 * Returns the subject of an answer: the written subject, or `Re: ` and the answered subject if nothing or the same
 * subject was written.
 */
export function replySubject(written: string | undefined, answered: string): string {
  const own = withoutReplyPrefix(written ?? '');
  const theirs = withoutReplyPrefix(answered);
  return own === '' || own === theirs ? `Re: ${theirs}`.trim() : headerText(written!);
}

function isMessageId(text: string): boolean {
  return /^<[^\s<>]{1,990}>$/.test(text) && !text.endsWith(MADE_UP);
}
