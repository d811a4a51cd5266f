/** Text from outside as PostgreSQL can keep it: no NUL, no half of a surrogate pair, at most `max` characters, composed (NFC). */
export function storableText(text: string, max: number): string {
  return text
    .slice(0, max)
    .normalize('NFC')
    .replaceAll('\0', '')
    .replace(/\p{Surrogate}/gu, '\uFFFD');
}
