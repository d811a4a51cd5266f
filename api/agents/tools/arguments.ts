/** The arguments of every paged list. */
export const PAGE = {
  // What an answer costs a model is read by the model each time: fewer rows than the route's own default.
  limit: { at: 'query.limit', fallback: 20, description: 'Rows of a page, at most' },
  cursor: { at: 'query.cursor', description: 'pagination.next_cursor of the page before, with the same filters' },
} as const;

/** The argument that names the record of the path, and the tools that tell its id. */
export function id(of: string, from: string): { at: string; description: string } {
  return { at: 'params.id', description: `Id of the ${of}, from ${from}` };
}
