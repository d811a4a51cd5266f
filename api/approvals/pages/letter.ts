import type { StreamReply } from '../../http/route.ts';
import { PAGE_HEADERS } from '../../pages/layout.ts';

/**
 * What an email in a frame may do: show itself, with its own styles and the pictures that it carries inside. No script runs, nothing is
 * loaded from elsewhere, no form is sent, and a link leads nowhere: the frame is sandboxed without any exception, by this header
 * and by the attribute of the frame, and the page around it lets it show only pages of this server.
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

/** Elements by which a browser opens connections or moves on without loading anything: the policy does not speak of all of them. */
const REACHING_OUT = /<[\s/]*(?:link|meta|base)\b[^>]*>?/gi;
/** Stands where one was: if nothing did, what is around it could join to another one. */
const NOTHING = '<!---->';

/** The HTML of an email as a page of its own, to be framed. */
export function letterReply(body: string): StreamReply {
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
