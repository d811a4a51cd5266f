import { createHash } from 'node:crypto';
import type { StreamReply } from '../http/route.ts';
import type { PageTexts } from './texts.ts';
import { Html, html } from '../http/html.ts';
import { STYLE } from './style.ts';

/**
 * Content-Security-Policy: the page's own style, images of this server, forms that post to this server. No scripts, no
 * frames, and no content from other sites.
 */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Headers of every page. The referrer policy is `same-origin`, which sends other sites no more than `no-referrer`. With
 * `no-referrer`, browsers would send Heron's own forms with `Origin: null`, but the origin is checked.
 */
export const PAGE_HEADERS: Record<string, string> = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': POLICY,
  'Referrer-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
  'X-Robots-Tag': 'noindex',
};

const MARK = html`<svg viewBox="0 0 32 32" aria-hidden="true"><path fill="none" stroke="currentColor" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round" d="M29 7.5 18.5 6a4 4 0 0 0-3.6 6.2c2.3 3.4 3 5.3 1.1 8.3-2 3.1-6.5 3.5-13 3.5 3.5-4 6-8.5 10.500-10M14.5 23.5 13 29M17.5 21.5l2 7.5"/><circle cx="18.7" cy="9" r="1.2" fill="currentColor"/></svg>`;

interface PageOptions {
  title: string;
  body: Html;
  status?: number;
  /** Content at the right of the top line. */
  top?: Html;
  wide?: boolean;
  /** True if the page shows other pages of this server in frames. */
  frames?: boolean;
  /** URL to which the page sends the browser immediately by a refresh. The page also contains a link to it. */
  refreshTo?: string;
  /** Headers in addition to {@link PAGE_HEADERS}. */
  headers?: Record<string, string> | undefined;
}

/**
 * Renders a whole page as the answer of a route: head, style and layout around `body`, in the language of `text`. The
 * page runs no script.
 */
export function page({ lang }: PageTexts, options: PageOptions): StreamReply {
  const refresh =
    options.refreshTo === undefined ? null : html`<meta http-equiv="refresh" content="0;url=${options.refreshTo}">`;
  const document = html`<!doctype html>
<html lang="${lang}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">${refresh}
<title>${options.title} · Heron</title><style>${new Html(STYLE)}</style></head>
<body${options.wide ? html` class="wide"` : null}><header class="top">${MARK}<span>Heron</span>${options.top}</header>
<main>${options.body}</main></body></html>`;
  const frames: Record<string, string> = options.frames
    ? { 'Content-Security-Policy': `${POLICY}; frame-src 'self'` }
    : {};
  return reply(options.status ?? 200, document.text, { Vary: 'Accept-Language', ...frames, ...options.headers });
}

/**
 * Redirects the browser with a GET. `location` is a path of this server, or a URL checked against its application.
 */
export function redirect(location: string): StreamReply {
  return reply(303, '', { Location: location });
}

function reply(status: number, text: string, headers: Record<string, string> = {}): StreamReply {
  return { stream: text, contentType: 'text/html; charset=utf-8', status, headers: { ...PAGE_HEADERS, ...headers } };
}

/** Renders a page with one message, such as why a request cannot continue. */
export function messagePage(
  text: PageTexts,
  status: number,
  title: string,
  body: Html,
  headers?: Record<string, string>,
): StreamReply {
  return page(text, { status, title, body: html`<h1>${title}</h1>${body}`, headers });
}
