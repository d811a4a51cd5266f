const HTML_ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text for HTML content and for quoted attribute values. */
export function escapeHtml(text: string): string {
  return /[&<>"']/.test(text) ? text.replace(/[&<>"']/g, (character) => HTML_ESCAPES[character]!) : text;
}

/**
 * Makes text safe for one header line, so that it cannot end the header or start another. Control characters, line
 * separators and white space become single spaces.
 */
export function headerText(text: string): string {
  return text.replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}

/**
 * Returns a lower-case slug of letters and digits joined by hyphens, without accents, at most `maxLength` characters.
 * Letters of any script are kept. Empty if the text has none.
 */
export function slugify(text: string, maxLength: number): string {
  return text
    .slice(0, maxLength * 4)
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .slice(0, maxLength)
    .replace(/^-|-$/g, '')
    .replace(/\p{Surrogate}/gu, '');
}
