import { headerText } from './text.ts';
import { withoutReplyPrefix } from './threading.ts';

/** Most Message-IDs named in References: the first, which mail readers group by, and the latest. */
const MAX_REFERENCES = 20;
/** The end of names that stand for messages without a Message-ID of their own: no mail program knows them. */
const MADE_UP = '@no-message-id.invalid>';

/** The headers by which an answer belongs to the message it answers (RFC 5322, 3.6.4). */
interface ReplyHeaders {
  /** Null where the answered message has no Message-ID. */
  inReplyTo: string | null;
  /** Oldest first. */
  references: string[];
}

/** The headers of an answer: its References are those of the answered message and that message itself. */
export function replyHeaders(answered: {
  message_id: string;
  in_reply_to: string | null;
  reference_ids: readonly string[];
}): ReplyHeaders {
  const { message_id: id, in_reply_to: parent, reference_ids: earlier } = answered;
  const chain = earlier.length > 0 ? earlier : parent === null ? [] : [parent];
  const known = [...new Set([...chain, id])].filter((one) => isMessageId(one));
  const references = known.length > MAX_REFERENCES ? [known[0]!, ...known.slice(1 - MAX_REFERENCES)] : known;
  return { inReplyTo: isMessageId(id) ? id : null, references };
}

/** The subject of an answer: what was written, with one `Re: ` where it is the conversation's own or none. */
export function replySubject(written: string | undefined, answered: string): string {
  const own = withoutReplyPrefix(written ?? '');
  const theirs = withoutReplyPrefix(answered);
  return own === '' || own === theirs ? `Re: ${theirs}`.trim() : headerText(written!);
}

function isMessageId(text: string): boolean {
  return /^<[^\s<>]{1,990}>$/.test(text) && !text.endsWith(MADE_UP);
}
