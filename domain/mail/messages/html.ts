import { Tokenizer, type Token, type TokenHandler } from 'parse5';
import { setTokenizerMode } from '../raw-text.ts';
import { escapeHtml } from './text.ts';
import { findTextLinks, isWebUrl, type FoundLink } from './text-links.ts';

const MAX_LABEL_LENGTH = 255;

/**
 * Finds the http and https links of an HTML source, in order. The tokenizer returns only their positions: the author's
 * HTML is never serialized again. Fragments, mailto:, tel: and relative links are omitted. Uses a tokenizer, because
 * building a tree takes several times as long, and quadratic time for hostile markup.
 */
export function findHtmlLinks(html: string): FoundLink[] {
  if (!/href/i.test(html)) return [];
  const collector = createLinkCollector();
  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: true },
    {
      ...collector.handler,
      onStartTag(token) {
        collector.onStartTag(token);
        setTokenizerMode(tokenizer, token.tagName);
      },
    },
  );
  tokenizer.write(html, true);
  return collector.links();
}

function createLinkCollector(): {
  readonly handler: Omit<TokenHandler, 'onStartTag'>;
  readonly onStartTag: (token: Token.TagToken) => void;
  readonly links: () => FoundLink[];
} {
  const found: { url: string; text: string; alternative: string; start: number; end: number }[] = [];
  let open: (typeof found)[number] | undefined;
  const onText = (token: Token.CharacterToken): void => {
    if (open && open.text.length < MAX_LABEL_LENGTH * 4) open.text += token.chars;
  };
  const ignore = (): void => undefined;
  return {
    handler: {
      onEndTag: ({ tagName }) => {
        if (tagName === 'a') open = undefined;
      },
      onCharacter: onText,
      onWhitespaceCharacter: onText,
      onNullCharacter: ignore,
      onComment: ignore,
      onDoctype: ignore,
      onEof: ignore,
    },
    onStartTag: ({ tagName, attrs, location }) => {
      const attribute = (name: string): string => attrs.find((candidate) => candidate.name === name)?.value ?? '';
      if (open && tagName === 'img') open.alternative ||= attribute('alt');
      if (tagName !== 'a' && tagName !== 'area') return;
      // As in HTML, an anchor ends where the next anchor begins.
      open = undefined;
      const url = attribute('href')
        .replace(/[\t\n\r]/g, '')
        .trim();
      const hrefLocation = location?.attrs?.['href'];
      if (!hrefLocation || !isWebUrl(url)) return;
      const link = { url, text: '', alternative: '', start: hrefLocation.startOffset, end: hrefLocation.endOffset };
      found.push(link);
      if (tagName === 'a') open = link;
    },
    links: () =>
      found.map(({ url, text, alternative, start, end }) => ({
        url,
        label: (text.replace(/\s+/g, ' ').trim() || alternative.trim()).slice(0, MAX_LABEL_LENGTH),
        start,
        end,
      })),
  };
}

/** Replaces found links by new URLs. `undefined` leaves a link unchanged. All other text is kept byte for byte. */
export function replaceLinks(
  source: string,
  links: readonly FoundLink[],
  urls: readonly (string | undefined)[],
  format: 'html' | 'text',
): string {
  let rewritten = '';
  let from = 0;
  links.forEach(({ start, end }, index) => {
    const url = urls[index];
    if (url === undefined) return;
    rewritten += source.slice(from, start) + (format === 'html' ? `href="${escapeHtml(url)}"` : url);
    from = end;
  });
  return rewritten + source.slice(from);
}

/**
 * Inserts a fragment at the end of the body, before the last `</body>`. Without it, inserts before `</html>`, or at the
 * end of the text.
 */
export function appendToBody(html: string, fragment: string): string {
  const position = lastIndexOfTag(html, /<\/body\s*>/gi) ?? lastIndexOfTag(html, /<\/html\s*>/gi) ?? html.length;
  return html.slice(0, position) + fragment + html.slice(position);
}

/** Returns the HTML of the tracking pixel, an invisible image whose request is recorded as an open. */
export function trackingPixel(url: string): string {
  const style = 'display:block;width:1px;height:1px;border:0';
  return `<img src="${escapeHtml(url)}" width="1" height="1" alt="" style="${style}">`;
}

/** Converts plain text to HTML: paragraphs at blank lines, line breaks elsewhere, URLs as links. */
export function plainToHtml(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .split(/\n(?:[ \t]*\n)+/)
    .filter((paragraph) => paragraph.trim() !== '')
    .map((paragraph) => `<p>${linkify(paragraph.trim()).replaceAll('\n', '<br>\n')}</p>`)
    .join('\n');
}

function linkify(text: string): string {
  let html = '';
  let from = 0;
  for (const { url, start, end } of findTextLinks(text)) {
    html += `${escapeHtml(text.slice(from, start))}<a href="${escapeHtml(url)}">${escapeHtml(url)}</a>`;
    from = end;
  }
  return html + escapeHtml(text.slice(from));
}

function lastIndexOfTag(html: string, tag: RegExp): number | undefined {
  return [...html.matchAll(tag)].at(-1)?.index;
}
