import sanitizeHtml from 'sanitize-html';
import { MAX_HTML } from './html-text.ts';

/** Maximum depth of nested elements. Deeper elements, which no mail program writes, are removed to bound the work. */
const MAX_NESTING = 100;
/** Maximum length (characters) of a kept image URL. */
const MAX_ADDRESS = 2_000;

/**
 * Sanitizes the HTML of a received message for display: keeps text, structure and links. Removes active content
 * (scripts, forms, handlers), remote content (styles, frames) and everything that could imitate the surrounding page
 * (ids, classes, positions). A remote image keeps its URL as `data-src`, which no browser loads, so the sender does not
 * learn that the message was read. Other images are replaced by their description, and single-pixel images are removed.
 * Links open in a new window.
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
  // Elements that are removed together with their text.
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

/** Returns true if a width or height is that of a tracking pixel. */
function isPixel(size: string | undefined): boolean {
  return size !== undefined && /^\s*[01](px)?\s*$/i.test(size);
}
