import type { StreamReply } from '../../http/route.ts';
import { PAGE_HEADERS } from '../../pages/layout.ts';

/**
 * Content-Security-Policy of a framed email: only its own styles and embedded images are allowed. Scripts, external
 * resources, forms and links are blocked. This header and the frame's attribute sandbox it without exceptions, and the
 * surrounding page allows frames of this server only.
 */
const POLICY = [
  'sandbox',
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
].join('; ');

/** Elements that open connections or navigate without loading a resource. The policy does not block all of them. */
const REACHING_OUT = /<[\s/]*(?:link|meta|base)\b[^>]*>?/gi;
/** Replacement for a removed element. Without it, the text on both sides could form another element. */
const NOTHING = '<!---->';

/** Returns the HTML of an email as a page for a frame. */
export function emailPage(body: string): StreamReply {
  return {
    stream: `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Email</title>${body.replace(REACHING_OUT, NOTHING)}`,
    contentType: 'text/html; charset=utf-8',
    status: 200,
    headers: {
      ...PAGE_HEADERS,
      'Content-Security-Policy': POLICY,
      'Referrer-Policy': 'no-referrer',
      'X-DNS-Prefetch-Control': 'off',
      'X-Frame-Options': 'SAMEORIGIN',
    },
  };
}
