import { createHash } from 'node:crypto';
import { escapeHtml } from '../../domain/mail/messages/text.ts';

const STYLE = `body{font:17px/1.5 system-ui,sans-serif;color:#1b2733;background:#f6f8fa;margin:0;padding:1rem}
main{max-width:30rem;margin:12vh auto 0;background:#fff;border:1px solid #d5dde5;border-radius:8px;padding:1.5rem 2rem}
h1{font-size:1.3rem;margin:.5rem 0}button{font:inherit;padding:.6rem 1.2rem;border:0;border-radius:6px;background:#1f5fbf;color:#fff;cursor:pointer}
button:focus-visible{outline:3px solid #f0a400;outline-offset:2px}`;

/** Nothing but the page's own style; forms go back where they came from; no other site may frame it. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The frame of every page of the tracking service. `body` is HTML. */
function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title><style>${STYLE}</style></head>
<body><main><h1>${escapeHtml(title)}</h1>${body}</main></body></html>`;
}

/** Asks before an opt-out: link scanners follow links, but press no buttons. */
export function confirmPage(organization: string, address: string): string {
  return page(
    'Unsubscribe',
    `<p>Stop emails from ${escapeHtml(organization)} to ${escapeHtml(maskAddress(address))}?</p>
<form method="post"><button type="submit" name="confirm" value="yes">Unsubscribe</button></form>`,
  );
}

/** Shown after an opt-out. */
export function donePage(organization: string, address: string): string {
  return page(
    'You are unsubscribed',
    `<p role="status">${escapeHtml(organization)} will not write to ${escapeHtml(maskAddress(address))} any more.</p>`,
  );
}

/** Shown for a token that is not ours, or whose email is no longer stored. */
export function unknownPage(reference: string): string {
  return page(
    'This link does not work',
    `<p>It may be incomplete, or too old. If you copied it, copy all of it.</p>${quoted(reference)}`,
  );
}

/** Shown after an internal error. */
export function troublePage(reference: string): string {
  return page('Something went wrong', `<p>Please try again in a moment.</p>${quoted(reference)}`);
}

/** What somebody who asks for help can quote. */
function quoted(reference: string): string {
  return `<p><small>Reference: ${escapeHtml(reference)}</small></p>`;
}

/** Enough of an address for its owner to recognize it, and not more, because mails are forwarded. */
function maskAddress(address: string): string {
  const at = address.lastIndexOf('@');
  return `${address.slice(0, 1)}•••${address.slice(at)}`;
}
