/**
 * Converts external text into text that PostgreSQL can store. Removes NUL and lone surrogates, composes it (NFC), and
 * cuts it after `max` characters.
 */
export function storableText(text: string, max: number): string {
  return text
    .slice(0, max)
    .normalize('NFC')
    .replaceAll('\0', '')
    .replace(/\p{Surrogate}/gu, '\uFFFD');
}
