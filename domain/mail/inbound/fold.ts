const COMBINING_MARKS = /\p{M}+/gu;

/**
 * Folds text for comparison: lower case, without diacritics, typographic apostrophes and dashes made plain,
 * spaces within a line collapsed. `Réponse  automatique` becomes `reponse automatique`. Line breaks stay.
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
