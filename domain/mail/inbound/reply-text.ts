import { hasQuoteMarks } from './html-text.ts';
import { unquotedHtml } from './html-words.ts';
import type { InboundMessage } from './parse.ts';
import { stripQuoted } from './quotes.ts';
import { withoutSentText } from './sent-lines.ts';

/**
 * Returns the reply's own words: the body without quoted messages, introductions and signatures. Reads the plain text,
 * and the HTML if it marks its quotes, and returns the shorter result.
 * @param sent texts that we sent to this person; their repetitions are removed anywhere in the reply
 */
export function replyText(message: InboundMessage, sent: readonly string[] = []): string {
  const { form, html, text } = message;
  const plain = form === 'html' ? '' : withoutSentText(stripQuoted(text), sent);
  if (html === null || (form === 'plain' && !hasQuoteMarks(html))) return plain;
  const marked = withoutSentText(unquotedHtml(html), sent);
  if (form === 'html') return marked;
  if (form === 'both') return [plain, marked].filter((words) => words !== '').join('\n\n');
  return marked !== '' && marked.length < plain.length ? marked : plain;
}
