import { htmlToPlain } from './html-text.ts';
import { endsWithIntroduction, stripQuoted } from './quotes.ts';

/** Returns the text of an HTML body without signatures and without quotes, marked or unmarked. */
export function unquotedHtml(html: string): string {
  return stripQuoted(htmlToPlain(html, { quotes: 'mark', introduces: endsWithIntroduction }));
}
