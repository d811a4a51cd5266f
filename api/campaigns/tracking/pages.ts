import { createHash } from 'node:crypto';
import { html, Html } from '../../http/html.ts';
import type { PageTexts } from '../../pages/texts.ts';

const STYLE = `body{font:17px/1.5 system-ui,sans-serif;color:#1b2733;background:#f6f8fa;margin:0;padding:1rem}
main{max-width:30rem;margin:12vh auto 0;background:#fff;border:1px solid #d5dde5;border-radius:8px;padding:1.5rem 2rem}
h1{font-size:1.3rem;margin:.5rem 0}button{font:inherit;padding:.6rem 1.2rem;border:0;border-radius:6px;background:#1f5fbf;color:#fff;cursor:pointer}
button:focus-visible{outline:3px solid #f0a400;outline-offset:2px}`;

/** Content-Security-Policy: only the page's own style, forms to this server only, no framing by other sites. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Renders the layout of every page of the tracking service. */
function page({ lang }: PageTexts, title: string, body: Html): string {
  return html`<!doctype html>
<html lang="${lang}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<title>${title}</title><style>${new Html(STYLE)}</style></head>
<body><main><h1>${title}</h1>${body}</main></body></html>`.text;
}

/** Renders the page that requests confirmation of an opt-out. Link scanners follow links, but do not press buttons. */
export function confirmPage(text: PageTexts, organization: string, address: string): string {
  const { recipient: words } = text;
  return page(
    text,
    words.unsubscribe,
    html`<p>${words.question(organization, maskAddress(address))}</p>
<form method="post"><button type="submit" name="confirm" value="yes">${words.unsubscribe}</button></form>`,
  );
}

/** Renders the page after an opt-out. */
export function donePage(text: PageTexts, organization: string, address: string): string {
  const { recipient: words } = text;
  return page(text, words.done, html`<p role="status">${words.doneWhy(organization, maskAddress(address))}</p>`);
}

/** Renders the page for a token that is invalid or whose email is no longer stored. */
export function unknownPage(text: PageTexts, reference: string): string {
  const { recipient: words } = text;
  return page(text, words.badLink, html`<p>${words.badLinkWhy}</p>${quoted(text, reference)}`);
}

/** Renders the page after an internal error. */
export function errorPage(text: PageTexts, reference: string): string {
  const { recipient: words } = text;
  return page(text, words.trouble, html`<p>${words.troubleWhy}</p>${quoted(text, reference)}`);
}

/** Renders the request reference that a reader can quote to support. */
function quoted({ recipient }: PageTexts, reference: string): Html {
  return html`<p><small>${recipient.reference(reference)}</small></p>`;
}

/** Masks an address so that only its owner recognizes it, because emails are forwarded. */
function maskAddress(address: string): string {
  const at = address.lastIndexOf('@');
  return `${address.slice(0, 1)}•••${address.slice(at)}`;
}
