const HTML_ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text for HTML content and for quoted attribute values. */
export function escapeHtml(text: string): string {
  return /[&<>"']/.test(text) ? text.replace(/[&<>"']/g, (character) => HTML_ESCAPES[character]!) : text;
}

/**
 * Makes text safe for one header line: control characters and line separators become a space, runs of white space one
 * space. The result cannot end a header or start another.
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
