const COMBINING_MARKS = /\p{M}+/gu;

/**
 * Folds text for comparison: lower case, no diacritics, plain apostrophes and dashes, single spaces within a line.
 * `Réponse  automatique` becomes `reponse automatique`. Line breaks are kept.
 */
export function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(COMBINING_MARKS, '')
    .toLowerCase()
    .replaceAll('ł', 'l')
    .replaceAll('ß', 'ss')
    .replace(/[‘’ʼ´`]/g, "'")
    .replace(/[‐‑‒–—―]/g, '-')
    .replace(/[^\S\n]+/g, ' ');
}
