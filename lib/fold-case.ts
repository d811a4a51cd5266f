/**
 * Folds the case of text for searches, like PostgreSQL's `heron_fold`. Includes Unicode's foldings of ß, of the final
 * sigma, and of the i with and without its dot, which lower case alone keeps distinct.
 */
export function foldCase(text: string): string {
  return text.replace(/[İı]/g, 'i').toLowerCase().replaceAll('ς', 'σ').replaceAll('ß', 'ss');
}
