/** A header or cell as words are compared: in lower case, without accents and signs, `camelCase` in two words. */
export function plainWords(text: string): string {
  return text
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\p{M}\p{Cf}'’`´]/gu, '')
    .replaceAll('ı', 'i')
    .replaceAll('ł', 'l')
    .replaceAll('ø', 'o')
    .replaceAll('ß', 'ss')
    .replaceAll('đ', 'd')
    .replaceAll('ς', 'σ')
    .replace(/[^\p{L}\p{N}✓✔☑]+/gu, ' ')
    .trim();
}

/** Words of a list with `|` between them, as {@link plainWords} has them. */
export function wordList(words: string): ReadonlySet<string> {
  return new Set(words.split('|').map(plainWords));
}

/**
 * Makes a test of whether some words contain one of the signs. In alphabets a sign begins where a word begins; Chinese,
 * Japanese, Korean and Thai have no spaces to tell.
 */
export function signs(words: string): (plain: string) => boolean {
  const list = [...wordList(words)].filter(Boolean);
  return (plain) => {
    const spaced = ` ${plain}`;
    return list.some((sign) => (UNSPACED.test(sign) ? plain.includes(sign) : spaced.includes(` ${sign}`)));
  };
}

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;
