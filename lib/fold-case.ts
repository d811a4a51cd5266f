/**
 * Folds the case of text for searches, like PostgreSQL's `heron_fold`. Also folds ß, the final sigma, and the i with
 * and without a dot, as Unicode does. Lower case alone keeps these distinct.
 */
export function foldCase(text: string): string {
  return text.replace(/[İı]/g, 'i').toLowerCase().replaceAll('ς', 'σ').replaceAll('ß', 'ss');
}
