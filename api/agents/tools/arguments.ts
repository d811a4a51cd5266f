/** Paging arguments of every list tool. */
export const PAGE = {
  // The model reads every row of an answer at a cost, so the default is lower than the route's own.
  limit: { at: 'query.limit', fallback: 20, description: 'Rows' },
  cursor: { at: 'query.cursor', description: 'pagination.next_cursor of the page before' },
} as const;

/** Returns the `id` argument of a tool, with a description that names the tools which list such ids. */
export function id(of: string, from: string): { at: string; description: string } {
  return { at: 'params.id', description: `Id of the ${of}, from ${from}` };
}
