import sanitizeHtml from 'sanitize-html';
import { MAX_HTML } from './html-text.ts';

/** Elements nested deeper than this are dropped: nobody writes them, and the work must not grow with them. */
const MAX_NESTING = 100;
/** Longest address (characters) of an image that is kept. */
const MAX_ADDRESS = 2_000;

/**
 * The HTML of a received message as it can be shown: words, structure and links. What acts (scripts, forms, handlers), what loads from
 * elsewhere (styles, frames) and what could be taken for the page around it (ids, classes, positions) is left out. An image that is elsewhere
 * keeps its address as `data-src`, which nothing loads, so that nobody learns that the message was read; any other leaves its description, and
 * one of a single pixel nothing. Links open in a window of their own.
 */
export function safeHtml(html: string): string {
  return sanitizeHtml(html.slice(0, MAX_HTML), OPTIONS).slice(0, MAX_HTML).trim();
}

const OPTIONS: sanitizeHtml.IOptions = {
  allowedTags:
    'a b strong i em u s strike del ins sub sup small big code pre kbd p br hr div span blockquote ul ol li dl dt dd h1 h2 h3 h4 h5 h6 table thead tbody tfoot tr td th caption center img'.split(
      ' ',
    ),
  allowedAttributes: {
    a: ['href', 'target', 'rel'],
    td: ['colspan', 'rowspan', 'align'],
    th: ['colspan', 'rowspan', 'align'],
    ol: ['start'],
    img: ['alt', 'data-src'],
    p: ['align'],
    div: ['align'],
  },
  allowedSchemes: ['http', 'https', 'mailto', 'tel'],
  allowedSchemesAppliedToAttributes: ['href'],
  allowProtocolRelative: false,
  // Their text is not shown either.
  nonTextTags: [
    'script',
    'style',
    'textarea',
    'option',
    'noscript',
    'title',
    'svg',
    'math',
    'object',
    'template',
    'iframe',
  ],
  nestingLimit: MAX_NESTING,
  parseStyleAttributes: false,
  transformTags: {
    a: (tagName, attribs) => ({
      tagName,
      attribs: {
        ...(attribs.href === undefined ? {} : { href: attribs.href }),
        target: '_blank',
        rel: 'noopener noreferrer nofollow',
      },
    }),
    img: (tagName, { src, 'data-src': kept, alt = '', width, height }): sanitizeHtml.Tag => {
      const address = src ?? kept ?? '';
      const description = alt.slice(0, 200);
      if (isPixel(width) || isPixel(height)) return { tagName: 'span', attribs: {}, text: '' };
      if (/^https?:\/\/[^\s]+$/i.test(address) && address.length <= MAX_ADDRESS)
        return { tagName, attribs: { alt: description, 'data-src': address } };
      return { tagName: 'span', attribs: {}, text: description && `[${description}]` };
    },
  },
};

/** Whether a width or height is that of an image which only tells its sender that it was looked at. */
function isPixel(size: string | undefined): boolean {
  return size !== undefined && /^\s*[01](px)?\s*$/i.test(size);
}
