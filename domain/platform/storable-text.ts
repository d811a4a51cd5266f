/**
 * Converts external text into text that PostgreSQL can store: without NUL and lone surrogates, composed (NFC), at most
 * `max` characters.
 */
export function storableText(text: string, max: number): string {
  return text
    .slice(0, max)
    .normalize('NFC')
    .replaceAll('\0', '')
    .replace(/\p{Surrogate}/gu, '\uFFFD');
}
