import { appendToBody, plainToHtml } from './html.ts';
import { htmlToText } from './to-text.ts';

/**
 * Returns the bodies of an email written by a person or an agent, with the mailbox's signature. Without a plain text,
 * the plain part is derived from the HTML. There is an HTML part only if HTML was written.
 */
export function writeBodies(
  written: { body_plain?: string | undefined; body_html?: string | undefined },
  signature: { signature_plain: string; signature_html: string },
): { body_plain: string; body_html: string | null } {
  const html = written.body_html?.trim() ? written.body_html : null;
  const plain = written.body_plain?.trim() ? written.body_plain : htmlToText(html ?? '');
  const plainSignature = signature.signature_plain.trim() || htmlToText(signature.signature_html);
  const htmlSignature = signature.signature_html.trim() || plainToHtml(signature.signature_plain);
  return {
    body_plain: [plain.trimEnd(), plainSignature].filter((part) => part !== '').join('\n\n'),
    body_html: html === null || htmlSignature === '' ? html : appendToBody(html, `\n${htmlSignature}`),
  };
}
