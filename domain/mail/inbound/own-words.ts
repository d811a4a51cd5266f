import { hasQuoteMarks } from './html-text.ts';
import { unquotedHtml } from './html-words.ts';
import type { InboundMessage } from './parse.ts';
import { stripQuoted } from './quotes.ts';
import { withoutSentText } from './sent-lines.ts';

/**
 * The reply's own words: the body without quoted messages, the lines introducing them, and signatures.
 *
 * Reads the plain text and, where the HTML form marks what it quotes, that too, and believes the one that keeps less.
 *
 * @param sent texts that we sent to this person; what repeats them goes wherever it stands
 */
export function ownWords(message: InboundMessage, sent: readonly string[] = []): string {
  const { form, html, text } = message;
  const plain = form === 'html' ? '' : withoutSentText(stripQuoted(text), sent);
  if (html === null || (form === 'plain' && !hasQuoteMarks(html))) return plain;
  const marked = withoutSentText(unquotedHtml(html), sent);
  if (form === 'html') return marked;
  if (form === 'both') return [plain, marked].filter((words) => words !== '').join('\n\n');
  return marked !== '' && marked.length < plain.length ? marked : plain;
}
