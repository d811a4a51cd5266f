/** Text from outside as PostgreSQL can keep it: no NUL, no half of a surrogate pair, at most `max` characters. */
export function storableText(text: string, max: number): string {
  return text
    .slice(0, max)
    .replaceAll('\0', '')
    .replace(/\p{Surrogate}/gu, '\uFFFD');
}
