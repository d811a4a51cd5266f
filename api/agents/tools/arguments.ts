/** Paging arguments of every list tool. */
export const PAGE = {
  // Every row costs tokens of the model, so the default is lower than that of the route.
  limit: { at: 'query.limit', fallback: 20, description: 'Rows' },
  cursor: { at: 'query.cursor', description: 'pagination.next_cursor of the previous page' },
} as const;

/** Returns the `id` argument of a tool, with a description that names the tools which list such ids. */
export function id(of: string, from: string): { at: string; description: string } {
  return { at: 'params.id', description: `Id of the ${of}, from ${from}` };
}
