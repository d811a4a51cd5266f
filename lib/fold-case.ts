/**
 * Text as searches compare it, without regard to case: as in PostgreSQL's `heron_fold`, with Unicode's foldings of ß, of
 * the final sigma, and of the i with and without its dot, which lower case alone keeps apart.
 */
export function foldCase(text: string): string {
  return text.replace(/[İı]/g, 'i').toLowerCase().replaceAll('ς', 'σ').replaceAll('ß', 'ss');
}
