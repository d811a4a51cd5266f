/** Normalizes a header or cell for comparisons: lower case, without accents and signs, `camelCase` as two words. */
export function normalizedWords(text: string): string {
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

/** Splits a list separated by `|` into words normalized by {@link normalizedWords}. */
export function normalizedWordSet(words: string): ReadonlySet<string> {
  return new Set(words.split('|').map(normalizedWords));
}

/**
 * Returns a function that tests if a text contains one of the given words. In alphabetic scripts a word must match from
 * its beginning. Chinese, Japanese, Korean and Thai have no spaces, so any position matches.
 */
export function signs(words: string): (plain: string) => boolean {
  const list = [...normalizedWordSet(words)].filter(Boolean);
  return (plain) => {
    const spaced = ` ${plain}`;
    return list.some((sign) => (UNSPACED.test(sign) ? plain.includes(sign) : spaced.includes(` ${sign}`)));
  };
}

/**
 * Returns a function that finds one of the given complete words, and returns its position or -1. In scripts without
 * spaces a word is found at any position.
 */
export function words(list: string): (plain: string) => number {
  const all = normalizedWordSet(list);
  const unspaced = [...all].filter((word) => UNSPACED.test(word));
  return (plain) => {
    let position = 0;
    for (const word of plain.split(' ')) {
      if (all.has(word)) return position;
      position += word.length + 1;
    }
    return Math.max(-1, ...unspaced.map((word) => plain.indexOf(word)));
  };
}

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;
