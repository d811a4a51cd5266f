import { htmlToPlain } from './html-text.ts';
import { endsWithIntroduction, stripQuoted } from './quotes.ts';

/** The text of an HTML body without what it quotes, marked as such or not, and without signatures. */
export function unquotedHtml(html: string): string {
  return stripQuoted(htmlToPlain(html, { quotes: 'mark', introduces: endsWithIntroduction }));
}
